/** The version of every JSON document of the interface. Within a version members are only added. */
export const jsonVersion = 1;

/** What a terminal might obey or not show; inside of JSON texts it stands in strings only. */
const unsafe = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Surrogate}]/gu;

/** JSON text of the same value in which such characters are escapes, so that it is fit for a terminal too. */
export function escapeControls(text: string): string {
  return text.replace(unsafe, (character) =>
    [...Array(character.length).keys()]
      .map((unit) => `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

export function safeJson(value: unknown): string {
  return escapeControls(JSON.stringify(value));
}

/** A JSON text that is put in as it stands. */
export class RawJson {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** An object in JSON, some of whose members are texts already. */
export function objectJson(members: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(members)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${safeJson(name)}:${value instanceof RawJson ? value.text : safeJson(value)}`);
  return `{${parts.join(',')}}`;
}
