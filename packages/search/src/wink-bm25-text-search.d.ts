/** The part of the package that is used; it brings no types of its own. */
declare module 'wink-bm25-text-search' {
  interface WinkIndex {
    defineConfig(config: { readonly fldWeights: Readonly<Record<string, number>> }): boolean;
    definePrepTasks(tasks: readonly ((text: string) => readonly string[])[]): number;
    addDoc(document: Readonly<Record<string, string>>, id: number): number;
    /** Before the first search, once, and only with three documents or more; 9 decimals at most. */
    consolidate(decimals: number): boolean;
    /** Pairs of id and score. */
    search(text: string, limit: number): readonly (readonly [id: string, score: number])[];
  }

  function create(): WinkIndex;
  export = create;
}
