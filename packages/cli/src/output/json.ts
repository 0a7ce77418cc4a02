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
