import { Parser } from 'commonmark';
import fc from 'fast-check';
import { defaultTreeAdapter, parse } from 'parse5';
import {
  deepLine,
  exported,
  goldenCase,
  invocation,
  item,
  message,
  output,
  passThrough,
  redactor,
  said,
  secret,
  sessionOf,
} from './exports-support.js';
import { line, logOf, TestStore, turnCompleted, turnStarted } from './support.js';

interface Node {
  readonly nodeName: string;
  readonly tagName?: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly Node[];
  readonly value?: string;
}

function* nodesOf(node: Node): Iterable<Node> {
  yield node;
  for (const child of node.childNodes ?? []) yield* nodesOf(child);
}

function elementsOf(text: string): readonly Node[] {
  const faults: string[] = [];
  const tree = parse(text, {
    treeAdapter: defaultTreeAdapter,
    onParseError: ({ code }) => faults.push(code),
  }) as unknown as Node;
  expect(faults).toEqual([]);
  return [...nodesOf(tree)];
}

const knownElements = new Set(
  'html head meta title style body header h1 h2 div dl dt dd nav ol ul li a main footer article span strong code pre details summary small p b img'.split(
    ' ',
  ),
);
const knownAttributes = new Set(
  'lang charset http-equiv content name class id href title open aria-label src alt'.split(' '),
);

/** Asserts that a parser finds nothing in the page that Turnlog did not put there. */
function checkPage(text: string): void {
  const nodes = elementsOf(text);
  for (const { nodeName, tagName, attrs = [] } of nodes) {
    if (tagName === undefined) {
      expect(['#document', '#documentType', '#text']).toContain(nodeName);
      continue;
    }
    expect([...knownElements]).toContain(tagName);
    for (const { name, value } of attrs) {
      expect([...knownAttributes]).toContain(name);
      if (name === 'href') expect(value).toMatch(/^#(?:p\d+-)?[st]\d+$/);
      if (name === 'src') expect(value).toMatch(/^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]*$/);
    }
  }
  const policies = nodes.filter(({ attrs }) =>
    attrs?.some(({ value }) => value === 'Content-Security-Policy'),
  );
  expect(policies).toHaveLength(1);
  expect(policies[0]?.attrs?.find(({ name }) => name === 'content')?.value).toMatch(
    /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src data:$/,
  );
  const ids = nodes.flatMap(({ attrs }) => attrs?.filter(({ name }) => name === 'id') ?? []);
  expect(new Set(ids.map(({ value }) => value)).size).toBe(ids.length);
}

/** Asserts that a Markdown reader finds no markup of HTML, no link and no image. */
function checkMarkdown(text: string): void {
  const body = text.replace(/^---\n[\s\S]*?\n---\n/, '').replace(/<\/?sub>/g, '');
  const walker = new Parser().parse(body).walker();
  const found: string[] = [];
  for (let step = walker.next(); step !== null; step = walker.next()) {
    const { type, level, parent, firstChild } = step.node;
    if (!step.entering || type === 'text') continue;
    if (markup.has(type)) found.push(type);
    const isOurs = /^Turn \d+$/.test(firstChild?.literal ?? '');
    if (type === 'heading' && level === 2 && !isQuoted(parent) && !isOurs) found.push('a heading of a turn');
  }
  expect(found).toEqual([]);
}

const markup = new Set(['html_inline', 'html_block', 'link', 'image']);

function isQuoted(node: { readonly type: string } | null): boolean {
  return node?.type === 'block_quote';
}

const hostileTexts: readonly string[] = [
  '<img src=x onerror=alert(1)>',
  '</script><script>alert(1)</script>',
  '</style><style>*{display:none}</style>',
  'javascript:alert(1)',
  '"><svg/onload=alert(1)>',
  "' onmouseover='alert(1)",
  '<!-- --> ]]> <![CDATA[ <?php',
  '&lt;img src=x&gt; &#x3c;b&#x3e; &amp',
  '</pre></code></details></main></body></html>',
  '[x](javascript:alert(1)) ![x](http://example.org/x.png) <http://example.org> [a]: http://example.org',
  '---\nid: forged\n---\n## Turn 99\n\n</blockquote>',
  '```\n<b>\n````\n~~~\n`a` ``<img onerror=x>` \\` ``<img onerror=x>``',
  '\\` ``<img onerror=x>`` | `<img src=x>` | \\\\`<b>`',
  '| a | b |\n|---|---|\n| `x | <img src=x> | y` |',
  '\ud83d \udc00 \u0000 \u0007 \u001b[31m \u202e \u2028 \u2029 \u0085 \ufeff',
  '\\` ``<img onerror=x>``',
  '__proto__',
  'constructor',
  '    <b>indented</b>\n\t<i>tab</i>\n\r<u>return</u>',
];

async function storeOf(session: string, bytes: string | Uint8Array): Promise<TestStore> {
  const test = await TestStore.make();
  test.plant(session, bytes);
  return test;
}

test.each(hostileTexts.map((text, index) => [index, text] as const))(
  'I-13 hostile text %d in every field class is text: no element, attribute or address of its own; policy present',
  async (_index, text) => {
    const test = await storeOf('s-1', sessionOf(text));
    for (const options of [
      {},
      { condensed: true },
      { assets: 'inline' as const },
      { assets: 'omit' as const },
    ]) {
      const page = exported(test, 's-1', 'html', options).text;
      checkPage(page);
      expect(page).not.toMatch(/<script|<link|<iframe|@import|url\(/);
      expect(page.replace(/[\s\S]*<\/style>/, '')).not.toMatch(/(?:src|href)=["']?https?:/);
    }
    checkMarkdown(exported(test, 's-1', 'md').text);
  },
);

const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '<',
        '>',
        '`',
        '``',
        '```',
        '\\',
        '"',
        "'",
        '&',
        '\n',
        '\r',
        '|',
        '[',
        '](',
        '!',
        '#',
        '---',
        ' ',
        '*',
        '<b',
        '<img src=x>',
        '</pre>',
        '\ud800',
        '~~~',
        '    ',
      ),
      fc.string({ maxLength: 4 }),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.join(''));

test('whatever is said, a page holds nothing but ours, and Markdown no markup', async () => {
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      const test = await storeOf('s-1', sessionOf(text));
      checkPage(exported(test, 's-1', 'html').text);
      checkMarkdown(exported(test, 's-1', 'md').text);
    }),
    { numRuns: 60 },
  );
});

test('the style of a page is the one that its policy allows', async () => {
  const { createHash } = await import('node:crypto');
  const page = exported(await storeOf('s-1', sessionOf('x')), 's-1', 'html').text;
  const style = /<style>([\s\S]*?)<\/style>/.exec(page)?.[1] ?? '';
  expect(page).toContain(`sha256-${createHash('sha256').update(style).digest('base64')}`);
});

const cases = [
  'B37-unicode-line-separators',
  'B40-lone-surrogates',
  'B44-big-integers',
  'B46-proto-keys',
  'B48-deep-nesting',
];

test('I-12 jsonl is byte-equal for odd texts, numbers, keys and nesting; md and html of names, long lines and nesting', async () => {
  for (const name of cases) {
    const bytes = goldenCase(name);
    const test = await storeOf('s-1', bytes);
    expect(exported(test, 's-1', 'jsonl').bytes).toEqual(bytes);
    expect(exported(test, 's-1', 'jsonl', {}, redactor).bytes).toEqual(bytes);
    checkPage(exported(test, 's-1', 'html').text);
    checkMarkdown(exported(test, 's-1', 'md').text);
  }
  const long = `${'<b>é&'.repeat(209_715)}end`;
  const log = logOf([turnStarted, said(long), message('a', long), invocation('t', long), output('t', long)]);
  const test = await storeOf('s-1', `${log}${deepLine(6, 6_000)}`);
  const page = exported(test, 's-1', 'html').text;
  checkPage(page);
  expect(page.split('end</').length).toBeGreaterThan(3);
  expect(page).toContain('nested too deep to be shown');
  const markdown = exported(test, 's-1', 'md').text;
  expect(markdown).toContain('nested too deep to be shown');
  checkMarkdown(markdown);
});

test('big integers keep their digits, names of prototypes are names', async () => {
  const numbers = await storeOf('s-1', goldenCase('B44-big-integers'));
  const stored = goldenCase('B44-big-integers').toString();
  const big = /\d{17,}/.exec(stored)?.[0] ?? 'none';
  for (const format of ['md', 'html', 'atif'] as const) {
    expect(exported(numbers, 's-1', format, { content: true }).text).toContain(big);
  }
  const names = await storeOf('s-1', goldenCase('B46-proto-keys'));
  expect(exported(names, 's-1', 'html').text).toContain('__proto__');
});

test('an item is shown once, where it began, as it was last said, its output with it', async () => {
  const test = await storeOf(
    's-1',
    logOf([
      turnStarted,
      item({ id: 't', type: 'tool_invocation', tool_name: 'shell', status: 'in_progress' }, 'item.started'),
      message('a', 'meanwhile'),
      invocation('t', 'shell', { arguments: { command: 'ls' } }),
      output('t', 'a.ts'),
      turnCompleted(1, 2),
    ]),
  );
  const { text } = exported(test, 's-1', 'md');
  expect(text.split('`shell`')).toHaveLength(2);
  expect(text.indexOf('shell')).toBeLessThan(text.indexOf('meanwhile'));
  expect(text.indexOf('a.ts')).toBeLessThan(text.indexOf('meanwhile'));
  const page = exported(test, 's-1', 'html').text;
  expect(page).toContain('<details id="s2">');
  expect(page).toContain('href="#s3"');
});

test('a condensed document keeps messages, decisions, files and failures', async () => {
  const test = await storeOf(
    's-1',
    logOf([
      turnStarted,
      said('please'),
      item({ id: 'r', type: 'reasoning', text: 'thinking' }),
      item({ id: 'd', type: 'decision', summary: 'so be it', rationale: '' }),
      invocation('t1', 'quiet'),
      output('t1', 'fine'),
      invocation('t2', 'loud'),
      output('t2', 'broken', { status: 'failed' }),
      item({
        id: 'f',
        type: 'file_change',
        changes: [{ path: 'src/a.ts', kind: 'update' }],
        status: 'completed',
      }),
      { type: 'turn.failed', message: 'gave up' },
    ]),
  );
  for (const format of ['md', 'html'] as const) {
    const { text } = exported(test, 's-1', format, { condensed: true });
    for (const kept of ['please', 'so be it', 'loud', 'broken', 'src/a.ts', 'gave up'])
      expect(text).toContain(kept);
    for (const dropped of ['thinking', 'quiet', 'fine']) expect(text).not.toContain(dropped);
  }
});

test('a fork begins with what it shares, and a parent that is not there is named', async () => {
  const test = await TestStore.make();
  test.plant(
    'parent',
    logOf([turnStarted, said('asked before'), turnCompleted(10, 20), turnStarted, said('not shared')]),
  );
  const forked = (session: string): object => ({
    type: 'run.started',
    program: 'p',
    cwd: '/srv/x',
    forked_from: { session, seq: 3 },
  });
  test.plant('child', logOf([forked('parent'), turnStarted, said('asked later'), turnCompleted(1, 2)]));
  test.plant('orphan', logOf([forked('nowhere'), turnStarted, said('alone')]));
  for (const format of ['md', 'html'] as const) {
    const { text } = exported(test, 'child', format);
    expect(text.indexOf('asked before')).toBeGreaterThan(0);
    expect(text.indexOf('asked before')).toBeLessThan(text.indexOf('asked later'));
    expect(text).not.toContain('not shared');
    expect(exported(test, 'orphan', format).text).toContain(
      'nowhere, records 1 to 3: it is not in this store',
    );
  }
  checkPage(exported(test, 'child', 'html').text);
  expect(exported(test, 'child', 'md').text).toContain('input_tokens: 1\n');
});

test('members of a frame without commit are in no document but the lines', async () => {
  const test = await storeOf(
    's-1',
    logOf([
      turnStarted,
      { type: 'journal.begin', frame: 'f', kind: 'plan', fence: null },
      message('a', 'never was'),
    ]),
  );
  for (const format of ['md', 'html', 'atif', 'otlp'] as const) {
    expect(exported(test, 's-1', format, { content: true }).text).not.toContain('never was');
  }
  expect(exported(test, 's-1', 'jsonl').text).toContain('never was');
});

test.each(['md', 'html', 'jsonl', 'atif', 'agent-trace', 'otlp'] as const)(
  'no secret leaves as %s, in whatever field it stands',
  async (format) => {
    const test = await storeOf('s-1', sessionOf(`a ${secret} b`));
    const options = { content: true };
    expect(exported(test, 's-1', format, options, redactor).text).not.toContain(secret);
    expect(exported(test, 's-1', format, options, redactor).text).toContain('[redacted:');
    expect(exported(test, 's-1', format, options, passThrough).text).toContain(secret);
  },
);

test('only lines that held a secret are written anew, marked before their event', async () => {
  const clean = line(1, said(' spaced   text ')).replace('"seq":1', ' "seq" : 1 ');
  const dirty = `{"schema_version":"0.18.0","seq":2,"ts":null,"key":"idempotency-key-12345","x":[1.50,1e400],"event":{"type":"x.a","n":2512292042121000001,"v":"${secret}"}}\n`;
  const test = await storeOf('s-1', `${clean}${dirty}`);
  const { text, report } = exported(test, 's-1', 'jsonl', {}, redactor);
  expect(text.startsWith(clean)).toBe(true);
  expect(text.slice(clean.length)).toMatch(
    /^\{"schema_version":"0\.18\.0","seq":2,"ts":null,"key":"idempotency-key-12345","x":\[1\.50,1e400\],"redacted":true,"event":\{"type":"x\.a","n":2512292042121000001,"v":"\[redacted:key:[0-9a-f]{8}\]"\}\}\n$/,
  );
  expect(report).toMatchObject({ recordCount: 2, rewrittenCount: 1 });
  expect(exported(test, 's-1', 'jsonl', { raw: true }, redactor).text).toBe(`${clean}${dirty}`);
  const again = await storeOf('s-1', text);
  expect(exported(again, 's-1', 'jsonl', {}, redactor).text).toBe(text);
});

test('a page of a session without times, turns or messages says so', async () => {
  const test = await storeOf(
    's-1',
    `${line(1, { type: 'thread.started', thread_id: 't' }, null)}${line(2, message('a', 'hello'), 'never')}`,
  );
  const page = exported(test, 's-1', 'html').text;
  expect(page).toContain('unknown time');
  expect(page).not.toContain('1970');
  expect(exported(test, 's-1', 'md').text).toContain('started: null');
});

test('images of the store stand in the page, other assets are named', async () => {
  const { AssetStore } = await import('@turnlog/store');
  const test = await TestStore.make();
  const asset = (sha256: string, media: string): object => ({
    type: 'user.message',
    id: 'm',
    origin: 'prompt',
    content: [{ type: 'asset', sha256, bytes: 3, media_type: media, name: 'shot' }],
  });
  await test.write('s-1', [{ type: 'turn.started' }]);
  const { sha256 } = new AssetStore(test.store.environment, test.store.root).put(Buffer.from('abc'));
  test.plant(
    's-2',
    logOf([
      turnStarted,
      asset(sha256, 'image/png'),
      asset(sha256, 'image/svg+xml'),
      asset('b'.repeat(64), 'image/png'),
    ]),
  );
  const inline = exported(test, 's-2', 'html', { assets: 'inline' }).text;
  checkPage(inline);
  expect(inline.split('<img ')).toHaveLength(2);
  expect(inline).toContain('data:image/png;base64,YWJj');
  expect(exported(test, 's-2', 'html').text).not.toContain('<img');
  expect(exported(test, 's-2', 'html', { assets: 'omit' }).text).not.toContain('shot');
  expect(exported(test, 's-2', 'md').text).toContain(`assets/${sha256.slice(0, 2)}/${sha256}`);
});
