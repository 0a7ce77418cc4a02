import type { Redactor } from '@turnlog/store';
import { stringsIn } from '@turnlog/testkit';

/** A way out of the store: what it makes of one stored line, all that a reader could see of it. */
export interface EgressUnderTest {
  readonly name: string;
  readonly leave: (redactor: Redactor, line: string) => string;
}

/** The ways out of this package. Others join with a table of their own and run the same two lists through it. */
export const libraryEgresses: readonly EgressUnderTest[] = [
  {
    name: 'text of every string',
    leave: (redactor, json) =>
      stringsIn(JSON.parse(json))
        .map((text) => redactor.text(text))
        .join('\n'),
  },
  { name: 'text of the line', leave: (redactor, json) => redactor.text(json) },
  { name: 'value', leave: (redactor, json) => JSON.stringify(redactor.value(JSON.parse(json) as unknown)) },
  { name: 'jsonText', leave: (redactor, json) => redactor.jsonText(json).text },
  {
    name: 'jsonBytes',
    leave: (redactor, json) => Buffer.from(redactor.jsonBytes(Buffer.from(json)).bytes).toString(),
  },
];
