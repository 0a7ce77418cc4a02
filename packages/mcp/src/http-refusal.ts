import type { IncomingHttpHeaders } from 'node:http';
import { limits, sha256Hex } from '@turnlog/kernel';

/** What is looked at before a body is read. */
export interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** Why a request is not answered. */
export interface Refusal {
  readonly status: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Why a request is refused; null when it is to be answered. A page in a browser can send requests to this machine: it
 * gives itself away by the name that it reaches us under, or by its origin, and knows no token. The token is taken from
 * the header alone: what stands in an address is written down in many places.
 */
export function refusalOf(
  { method, url, headers }: RequestHead,
  { port, token }: { readonly port: number; readonly token: string },
): Refusal | null {
  const names = [`127.0.0.1:${port}`, `localhost:${port}`];
  if (!names.includes(headers.host ?? '')) return refusal(403, 'this server does not have that name');
  const { origin } = headers;
  if (origin !== undefined && !names.some((name) => origin === `http://${name}`)) {
    return refusal(403, 'requests from that origin are not answered');
  }
  if (!showsToken(headers, token)) {
    return refusal(401, 'the token is missing or wrong', { 'www-authenticate': 'Bearer' });
  }
  if (url !== '/mcp') return refusal(404, 'the server is at /mcp');
  if (method !== 'POST') return refusal(405, 'messages are sent with POST', { allow: 'POST' });
  const isTooLong = Number(headers['content-length'] ?? 0) > limits.mcpMessageBytesMax;
  return isTooLong ? refusal(413, 'the message is too long', { connection: 'close' }) : null;
}

function refusal(status: number, message: string, headers: Refusal['headers'] = {}): Refusal {
  return { status, message, headers };
}

/** Digests are compared: how long that takes says nothing of the token. */
function showsToken({ authorization }: IncomingHttpHeaders, token: string): boolean {
  const shown = /^Bearer (?<token>\S+)$/i.exec(authorization ?? '')?.groups?.['token'];
  return shown !== undefined && digestOf(shown) === digestOf(token);
}

function digestOf(text: string): string {
  return sha256Hex(Buffer.from(text));
}
