import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { serveMcpHttp } from '@turnlog/mcp';
import { World } from './world.js';

const token = 'a-token-for-tests-0123456789';

/** A server on a free port, for as long as `work` lasts. */
async function serving(world: World, work: (url: URL) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  let reach: (url: string) => void = () => undefined;
  const reached = new Promise<string>((resolve) => {
    reach = resolve;
  });
  const served = serveMcpHttp({
    ...(await world.service()),
    port: 0,
    token,
    stop: stop.signal,
    onListening: async (url) => reach(url),
  });
  try {
    await work(new URL(await reached));
  } finally {
    stop.abort();
    await served;
  }
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });

/** A request as a program sends it; a header of undefined is left out. */
function send(
  url: URL,
  more: { method?: string; path?: string; body?: string; headers?: Record<string, string | undefined> } = {},
): Promise<Answer> {
  const { method = 'POST', path = '/mcp', body = list } = more;
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...more.headers,
  };
  const given = Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { host: '127.0.0.1', port: url.port, path, method, headers: given },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks).toString('utf8'),
          }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(method === 'POST' ? body : undefined);
  });
}

async function connected(url: URL): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as never);
  return client;
}

const said = (id: string, text: string): object => ({
  type: 'item.completed',
  item: { id, type: 'agent_message', text },
});

test('two official clients at once get what is asked for, each its own', async () => {
  const world = new World();
  world.plant('s-1', [said('a', 'a needle'), said('b', 'a thread')]);
  await serving(world, async (url) => {
    const clients = await Promise.all([connected(url), connected(url)]);
    const words = ['needle', 'thread'];
    const asked = clients.flatMap((client, at) =>
      Array.from({ length: 10 }, async () => {
        await client.listTools();
        const answer = await client.callTool({ name: 'turnlog_search', arguments: { text: words[at] } });
        return [at, Object(answer.structuredContent).hits.map(({ id }: { id: string }) => id)];
      }),
    );
    for (const [at, ids] of await Promise.all(asked)) expect(ids).toEqual([at === 0 ? 's-1:1' : 's-1:2']);
    await Promise.all(clients.map((client) => client.close()));
  });
  expect(world.passedOver).toEqual([]);
});

const refusals: readonly (readonly [why: string, more: Parameters<typeof send>[1], status: number])[] = [
  ['another name of the host', { headers: { host: 'evil.example:80' } }, 403],
  ['the right name on another port', { headers: { host: 'localhost:1' } }, 403],
  ['a page of another origin', { headers: { origin: 'https://evil.example' } }, 403],
  ['a page without an origin of its own', { headers: { origin: 'null' } }, 403],
  ['no token', { headers: { authorization: undefined } }, 401],
  ['another token', { headers: { authorization: `Bearer ${token}x` } }, 401],
  ['the token by another scheme', { headers: { authorization: `Basic ${token}` } }, 401],
  ['the token in the address', { path: `/mcp?token=${token}`, headers: { authorization: undefined } }, 401],
  ['another path', { path: '/' }, 404],
  ['a path with a query', { path: '/mcp?x=1' }, 404],
  ['a stream of the server', { method: 'GET' }, 405],
  ['the end of a session', { method: 'DELETE' }, 405],
  ['the question of a browser', { method: 'OPTIONS', headers: { authorization: undefined } }, 401],
  ['no JSON', { body: '{"jsonrpc"' }, 400],
  ['a body that is too long', { body: `"${'x'.repeat(1_048_576)}"` }, 413],
];

test.each(refusals)('%s is refused, and no tool is reached', async (_why, more, status) => {
  const world = new World();
  world.plant('s-1', [said('a', 'a needle')]);
  await serving(world, async (url) => {
    const answer = await send(url, more);
    expect([answer.status, JSON.parse(answer.body).error.code]).toEqual([status, -32_000]);
    expect(answer.body).not.toContain('needle');
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    expect((await send(url)).status).toBe(200);
  });
});

test('its own page and both names of the machine are answered', async () => {
  await serving(new World(), async (url) => {
    for (const host of [`127.0.0.1:${url.port}`, `localhost:${url.port}`]) {
      const { status, body } = await send(url, { headers: { host, origin: `http://${host}` } });
      expect([status, JSON.parse(body).result.tools.length]).toEqual([200, expect.any(Number)]);
    }
  });
});

test('a body whose length nobody has said ends where a message would be too long', async () => {
  await serving(new World(), async (url) => {
    const socket = connect(Number(url.port), '127.0.0.1');
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${url.port}\r\nAuthorization: Bearer ${token}\r\n`;
    const said: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => said.push(chunk));
    // What is sent behind the answer meets a closed connection.
    socket.on('error', () => undefined);
    socket.write(`${head}Transfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n`);
    const piece = `10000\r\n${' '.repeat(65_536)}\r\n`;
    for (let at = 0; at < 17; at += 1) socket.write(piece);
    await new Promise((resolve) => socket.on('close', resolve));
    expect(Buffer.concat(said).toString('utf8')).toMatch(/^HTTP\/1\.1 413 /);
    expect((await send(url)).status).toBe(200);
  });
});

test('a port that is taken is a failure of the command', async () => {
  await serving(new World(), async (url) => {
    const other = serveMcpHttp({
      ...(await new World().service()),
      port: Number(url.port),
      token,
      stop: new AbortController().signal,
      onListening: async () => undefined,
    });
    await expect(other).rejects.toMatchObject({
      code: 'TURNLOG_IO',
      details: { operation: 'listen', errno: 'EADDRINUSE' },
    });
  });
});
