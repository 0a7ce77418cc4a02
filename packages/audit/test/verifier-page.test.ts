import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { makeTemporaryDirectory, type TemporaryDirectory } from '@turnlog/testkit';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import { Browser, chromiumHere } from './browser.js';
import { vectorsFolder } from './vectors.js';
import { AuditWorld, lineV, logV, readWhole } from './world.js';

const page = resolve(__dirname, '../verifier/turnlog-verify.html');
const html = readFileSync(page, 'utf8');

test('the page is one file: its policy lets nothing be loaded, and only its own style and script be used', () => {
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? '';
  const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
  const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(html) ?? [];
  const [, script = ''] = /<script type="module">([\s\S]*?)<\/script>/.exec(html) ?? [];
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
  expect([style.length > 1_000, script.length > 10_000]).toEqual([true, true]);
  expect(script).not.toMatch(
    /\beval\b|\bFunction\(|\bimport\b|fetch\(|XMLHttp|WebSocket|innerHTML|insertAdjacent|document\.write/,
  );
  expect(html).not.toMatch(/\bhttps?:|\bsrc=|\bhref=|url\(|@import| on[a-z]+=/);
});

type Node = DefaultTreeAdapterTypes.Node;
type Element = DefaultTreeAdapterTypes.Element;

/** All elements of the page, in their order. */
function elementsIn(node: Node): readonly Element[] {
  const children = 'childNodes' in node ? node.childNodes.flatMap(elementsIn) : [];
  return 'tagName' in node ? [node, ...children] : children;
}

test('every control has a label or a name, headings go down one by one, what changes is announced', () => {
  const elements = elementsIn(parse(html));
  const named = (...names: readonly string[]): readonly Element[] =>
    elements.filter(({ tagName }) => names.includes(tagName));
  const parents = named('input', 'select').map(({ parentNode }) => parentNode?.nodeName);
  expect(parents).toEqual(Array(6).fill('label'));
  const scoped = named('th').filter(({ attrs }) => attrs.some(({ name }) => name === 'scope'));
  expect(scoped).toHaveLength(5);
  const levels = elements.flatMap(({ tagName }) => /^h(\d)$/.exec(tagName)?.[1] ?? []);
  expect(levels).toEqual(['1', '2', '2', '2']);
  const live = elements.filter(({ attrs }) => attrs.some(({ value }) => value === 'status'));
  expect(live).toHaveLength(2);
});

const program = chromiumHere();

interface Told {
  readonly status: string;
  readonly verdict: string;
  readonly facts: Readonly<Record<string, string>>;
  readonly findings: string;
  readonly count: string;
  readonly rows: readonly (readonly string[])[];
}

if (program === null) {
  process.stdout.write('there is no Chromium on this machine; the page of the verifier was not opened\n');
} else {
  let browser: Browser;
  let directory: TemporaryDirectory;
  const at = (...names: readonly string[]): string => join(directory.path, ...names);

  beforeAll(async () => {
    directory = makeTemporaryDirectory();
    browser = await Browser.open(program);
  }, 120_000);

  afterAll(async () => {
    await browser.close();
    directory.remove();
  });

  beforeEach(async () => await browser.visit(pathToFileURL(page).href));

  const told = `({
    status: document.querySelector('#status').textContent,
    verdict: document.querySelector('#verdict').textContent,
    facts: Object.fromEntries([...document.querySelectorAll('#facts div')].map((each) => [...each.children].map((part) => part.textContent))),
    findings: document.querySelector('#findings').innerText,
    count: document.querySelector('#count').textContent,
    rows: [...document.querySelectorAll('#rows tr')].map((row) => [...row.cells].map((cell) => cell.innerText)),
  })`;

  /** What the page tells when it is done with what was chosen. */
  async function done(): Promise<Told> {
    await browser.until(async () => {
      const status = await browser.read<string>("document.querySelector('#status').textContent");
      return /^(?:Done|This could not)/.test(status) ? status : null;
    });
    return await browser.read<Told>(told);
  }

  async function verify(selector: string, path: string): Promise<Told> {
    await browser.read("document.querySelector('#status').textContent = ''");
    await browser.choose(selector, path);
    return await done();
  }

  /** The session of a world as a directory on the disk. */
  function onDisk(world: AuditWorld, name: string): string {
    const copy = (from: string, to: string): void => {
      mkdirSync(to, { recursive: true });
      for (const entry of world.disk.list(from)) {
        if (entry.kind === 'directory') copy(join(from, entry.name), join(to, entry.name));
        else writeFileSync(join(to, entry.name), readWhole(world.disk, join(from, entry.name)));
      }
    };
    copy(world.directory(), at(name));
    return at(name);
  }

  async function packedV(): Promise<AuditWorld> {
    const world = new AuditWorld();
    world.plantLog(logV(7));
    await world.pack();
    return world;
  }

  const statesOf = ({ rows }: Told): readonly (string | undefined)[] => rows.map((cells) => cells[2]);

  test('a session that is as packed: verdict, assurance, roots, every record intact; nothing was asked of any network', async () => {
    const found = await verify('#directory', onDisk(await packedV(), 'verified'));
    expect(found).toMatchObject({ verdict: '✓verified', count: '7 of 7 rows', findings: '' });
    const { root } = JSON.parse(readFileSync(at('verified/derived/audit-pack.json'), 'utf8')).tree;
    expect(found.facts).toMatchObject({
      Assurance: 'self-attested: nobody signed, so the pack speaks for itself',
      Session: 's-1',
      'Packed records': '7',
      'Root in the pack': root,
      'Root of these records': root,
    });
    expect(statesOf(found)).toEqual(Array(7).fill('✓ intact'));
    expect(found.rows[2]?.slice(0, 2)).toEqual(['2', '3']);
    expect(found.rows[2]?.[4]).toBe(lineV(3));
    const asked = browser.events.filter(({ method }) => method === 'Network.requestWillBeSent');
    const urls = asked.map(({ params }) => Object(params['request']).url);
    expect(new Set(urls)).toEqual(new Set([pathToFileURL(page).href]));
    expect(browser.events.filter(({ method }) => method === 'Log.entryAdded')).toEqual([]);
  });

  const published: readonly (readonly [name: string, verdict: string, states: readonly string[]])[] = [
    [
      'edited',
      '✕mismatch',
      [
        ...Array(2).fill('? not proven\nlike its mark in the pack, which proves nothing'),
        '≠ edited from here',
        ...Array(4).fill('? behind the edit'),
      ],
    ],
    ['grown', '✓verified', [...Array(7).fill('✓ intact'), ...Array(2).fill('+ came after the pack')]],
    ['missing', '✕missing', []],
    ['bad-signature', '✕bad signature', Array(7).fill('✓ intact')],
    ['invalid-path', '✕invalid pack', Array(7).fill('? not proven')],
    [
      'shorter',
      '✕mismatch',
      [...Array(5).fill('? not proven'), '✕ gone\n2 packed records are gone from the end'],
    ],
  ];

  test.each(published)(
    'the published session %s: %s, and what became of each record',
    async (name, verdict, states) => {
      cpSync(join(vectorsFolder, 'packs', name, 'session'), at(name), { recursive: true });
      const found = await verify('#directory', at(name));
      expect([found.verdict, statesOf(found)]).toEqual([verdict, states]);
    },
  );

  test('a bundle with redacted, unexplained and damaged records, evicted ones, and what came after', async () => {
    const world = new AuditWorld();
    await world.turns(8);
    await world.pack();
    await world.turns(2);
    await world.cut(12);
    const cut = await verify('#directory', onDisk(world, 'cut'));
    expect(cut.verdict).toBe('✓verified');
    expect(statesOf(cut)[0]).toMatch(/^⇤ evicted\nleaves 0 to \d+ have left the file$/);
    const leaf = createHash('sha256')
      .update(`\0${lineV(5)}`)
      .digest('hex');
    const stamped = (seq: number, event: object): string =>
      `${JSON.stringify({ schema_version: '0.18.0', seq, ts: null, event })}\n`;
    const redacted = stamped(5, {
      type: 'log.redacted',
      leaf,
      original_type: 'error',
      length: 9,
      redacted_at: '',
    });
    const damaged = new AuditWorld();
    damaged.plantLog(`${logV(7)}{"half": \n`);
    await damaged.pack();
    const lines = logV(7)
      .split('\n')
      .slice(0, 7)
      .map((line, n) => (n === 4 ? redacted : `${line}\n`));
    const said = stamped(8, { type: 'log.redaction', indexes: [4], leaves: [leaf], reason: 'r', actor: 'a' });
    damaged.plant('events.jsonl', `${lines.join('')}{"half": \n${said}`);
    const found = await verify('#directory', onDisk(damaged, 'redacted'));
    expect([found.verdict, statesOf(found)]).toEqual([
      '✓verified',
      [
        ...Array(4).fill('✓ intact'),
        '▬ redacted\nexplained by the record with seq 8',
        ...Array(2).fill('✓ intact'),
        '! damaged\nunreadable',
        '+ came after the pack',
      ],
    ]);
    damaged.plant('events.jsonl', `${lines.join('')}{"half": \n`);
    const unexplained = await verify('#directory', onDisk(damaged, 'unexplained'));
    expect(unexplained.verdict).toBe('✕mismatch');
    expect(statesOf(unexplained)[4]).toBe('✕ taken out\nno later record says why');
    expect(unexplained.findings).toContain('redaction-unexplained');
  });

  test('a bundle is unpacked in the page; one that is damaged or leads elsewhere is told and not shown', async () => {
    const world = new AuditWorld();
    world.plantLog(logV(7));
    world.disk.plantDirectory('/out');
    await world.pack({ record: 'none', bundle: '/out/b.tar' });
    const bundle = readWhole(world.disk, '/out/b.tar');
    writeFileSync(at('b.tar'), bundle);
    const found = await verify('#bundle', at('b.tar'));
    expect([found.verdict, found.rows.length]).toEqual(['✓verified', 7]);
    const [first = 0] = [bundle[0]];
    bundle[0] = first ^ 1;
    writeFileSync(at('damaged.tar'), bundle);
    expect((await verify('#bundle', at('damaged.tar'))).status).toContain('header of the bundle is damaged');
    execFileSync('tar', [
      '-cPf',
      at('up.tar'),
      '--transform',
      's,^,../,',
      '-C',
      at('verified'),
      'events.jsonl',
    ]);
    expect((await verify('#bundle', at('up.tar'))).status).toMatch(/^This could not be read: /);
    expect(await browser.read("document.querySelector('#result').hidden")).toBe(true);
  });

  test('a directory and a bundle that are dropped anywhere on the page are verified', async () => {
    const session = onDisk(await packedV(), 'dropped');
    for (const path of [session, at('b.tar')]) {
      await browser.read("document.querySelector('#status').textContent = ''");
      const data = { items: [], files: [path], dragOperationsMask: 1 };
      for (const type of ['dragEnter', 'dragOver', 'drop'])
        await browser.send('Input.dispatchDragEvent', { type, x: 40, y: 40, data });
      const found = await done();
      expect([found.status, found.verdict, found.rows.length]).toEqual([
        'Done: verified, self-attested.',
        '✓verified',
        7,
      ]);
    }
  });

  test('a store is chosen as a whole, and its sessions one by one', async () => {
    const [good, other] = [await packedV(), await packedV()];
    other.plant('events.jsonl', logV(5));
    onDisk(good, 'store/sessions/a');
    onDisk(other, 'store/sessions/b');
    const first = await verify('#directory', at('store'));
    expect(first.verdict).toBe('✓verified');
    const options = "[...document.querySelectorAll('#session option')].map(({ textContent }) => textContent)";
    expect(await browser.read(options)).toEqual(['sessions/a', 'sessions/b']);
    await browser.read(`(() => {
      document.querySelector('#status').textContent = '';
      const control = document.querySelector('#session');
      control.value = '1';
      control.dispatchEvent(new Event('change'));
    })()`);
    expect((await done()).verdict).toBe('✕mismatch');
  });

  test('what records, files and ids say is text, whatever it looks like', async () => {
    const hostile = [
      '<img src=x onerror="window.taken=1">',
      '</script><script>window.taken=1</script>',
      '</td></tr></table><h1>verified</h1>',
      '\u202egnp.exe\u0007\u001b[31m',
    ];
    const lines = hostile.map((text, n) =>
      JSON.stringify({
        schema_version: '0.18.0',
        seq: n + 1,
        ts: null,
        event: { type: text, message: text },
      }),
    );
    const world = new AuditWorld();
    world.plantLog(lines.map((line) => `${line}\n`).join(''));
    await world.pack();
    const session = onDisk(world, 'hostile');
    writeFileSync(join(session, '<img src=x onerror=alert(1)>'), 'x');
    const pack = JSON.parse(readFileSync(join(session, 'derived/audit-pack.json'), 'utf8'));
    const entry = { path: '<b>bold<script>', bytes: 1, sha256: '0'.repeat(64), role: '<i>' };
    const changed = { ...pack, entries: [...pack.entries, entry] };
    writeFileSync(join(session, 'derived/audit-pack.json'), JSON.stringify(changed));
    const found = await verify('#directory', session);
    expect(found.rows.map((cells) => cells[3])).toEqual([
      ...hostile.slice(0, 3),
      '\\u202egnp.exe\\u0007\\u001b[31m',
    ]);
    expect(found.findings).toContain('<img src=x onerror=alert(1)>');
    expect(found.findings).toContain('<b>bold<script>');
    const strange =
      "document.querySelectorAll('img, #result script, #result h1, #result b, #result i').length";
    expect(await browser.read(`[window.taken ?? null, ${strange}]`)).toEqual([null, 0]);
    await browser.read("document.querySelector('#rows summary').click()");
    const opened = await browser.until(
      async () =>
        await browser.read<string | null>("document.querySelector('#rows pre')?.textContent ?? null"),
    );
    expect(opened).toBe(lines[0]);
  });

  test('10,000 records: a hundred on a page, found by text, seq and state, turned by keys alone', async () => {
    const world = new AuditWorld();
    world.plantLog(logV(10_000));
    await world.pack();
    const found = await verify('#directory', onDisk(world, 'many'));
    expect([found.verdict, found.count, found.rows.length]).toEqual([
      '✓verified',
      '10000 of 10000 rows',
      100,
    ]);
    const type = async (id: string, value: string): Promise<Told> => {
      await browser.read(`(() => {
        const control = document.querySelector('${id}');
        control.value = ${JSON.stringify(value)};
        control.dispatchEvent(new Event(control.tagName === 'SELECT' ? 'change' : 'input'));
      })()`);
      return await browser.read<Told>(told);
    };
    const some = await type('#search', 'M777');
    expect([some.count, some.rows[0]?.[1]]).toEqual(['11 of 10000 rows', '777']);
    expect((await type('#search', '4321')).rows.map((cells) => cells[1])).toContain('4321');
    expect((await type('#search', 'nowhere')).count).toBe('0 of 10000 rows');
    await type('#search', '');
    expect((await type('#state', 'intact')).count).toBe('10000 of 10000 rows');
    await browser.read("document.querySelector('#last').focus()");
    for (const kind of ['keyDown', 'keyUp']) {
      await browser.send('Input.dispatchKeyEvent', {
        type: kind,
        key: 'Enter',
        code: 'Enter',
        text: '\r',
        windowsVirtualKeyCode: 13,
      });
    }
    const last = await browser.until(async () => {
      const now = await browser.read<Told>(told);
      return now.rows[0]?.[0] === '9900' ? now : null;
    });
    expect(last.rows.at(-1)?.slice(0, 2)).toEqual(['9999', '10000']);
    expect(
      await browser.read(
        "[document.querySelector('#next').disabled, document.querySelector('#page').textContent]",
      ),
    ).toEqual([true, 'page 100 of 100']);
  });

  test('keys that are trusted decide what a signature is worth', async () => {
    const session = onDisk(await packedV(), 'signed');
    const pack = join(session, 'derived/audit-pack.json');
    for (const name of ['ann', 'bob']) {
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', at(name)]);
      writeFileSync(at(`${name}.trust`), `${name} ${readFileSync(at(`${name}.pub`), 'utf8')}`);
    }
    execFileSync('ssh-keygen', ['-q', '-Y', 'sign', '-f', at('ann'), '-n', 'turnlog-pack@v1', pack], {
      stdio: 'pipe',
    });
    expect((await verify('#directory', session)).facts['Assurance']).toMatch(/^signed-unknown-key/);
    expect((await verify('#keys', at('ann.trust'))).facts['Assurance']).toMatch(/^signed-trusted-key/);
    const other = await verify('#keys', at('bob.trust'));
    expect([other.verdict, other.status]).toEqual(['✕bad signature', 'Done: bad signature, self-attested.']);
  });
}
