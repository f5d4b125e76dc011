import { type Agent, type IncomingMessage, request as send } from 'node:http';
import { text } from 'node:stream/consumers';
import { apiErrors, ErrorBody } from '#protocol/errors.ts';
import type { Random } from '#kernel/random.ts';

export interface BadRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const methods = ['GET', 'GET', 'GET', 'GET', 'POST', 'POST', 'HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'];
const paths = [
  '/check-ping',
  '/check-http',
  '/check-tcp',
  '/check-dns',
  '/check-udp',
  '/check-',
  '/check-result/',
  '/check-result-extended/',
  '/check-report/',
  '/check-result/01234567890123456789/events',
  '/nodes/ips',
  '/nodes/hosts',
  '/api/v1/checks',
  '/api/v1/nodes',
  '/',
  '//',
  '/../',
];
const keys = ['host', 'node', 'max_nodes', 'wait', 'type', '__proto__', 'constructor', 'host[]', ''];
const values = [
  '127.0.0.1:80',
  'example.com',
  'http://user@127.0.0.1/',
  '[::1]:80',
  '[::1%25lo]',
  '2130706433',
  'a:99999999',
  '-1',
  '1e999',
  'NaN',
  'de1.node.watchpost.internal',
  '%00',
  '%',
  '%zz',
  '%F0%9F%92%A9',
  '%E0%A4%A',
  '..%2f..%2fetc%2fpasswd',
  '%0d%0aX-Injected:%201',
  "'; DROP TABLE runs; --",
  '<script>',
  '\\',
];
const types = [
  'application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'text/plain',
  'nonsense',
  'application/json; charset=nothing',
  ';;;',
];
const bodies = [
  '',
  '{',
  '[]',
  'null',
  '{"host":{"a":1}}',
  '{"__proto__":{"host":"a"}}',
  '--x\r\n\r\n--x--',
  'host=127.0.0.1',
  '\u0000',
  '[[[[',
];
const accepts = ['application/json', 'text/html', '*/*', ';q=,', 'text/html;q=x'];

/** A request that nobody should send: parts of good ones, put together wrongly, with noise. */
export function badRequest(random: Random): BadRequest {
  const pick = (list: readonly string[]) => list[Math.floor(random.next() * list.length)] ?? '';
  const noise = () => {
    const length = Math.floor(random.next() * (random.next() < 0.02 ? 3_000 : 30));
    return Array.from(random.bytes(length), (byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  };
  const value = () => (random.next() < 0.3 ? noise() : pick(values));
  const query = Array.from({ length: Math.floor(random.next() * 4) }, () => `${pick(keys)}=${value()}`).join('&');
  const method = pick(methods);
  const body = method === 'GET' || method === 'HEAD' ? '' : random.next() < 0.2 ? noise() : pick(bodies);
  return {
    method,
    // What cannot stand in the first line of a request at all is the parser's business.
    path: `${pick(paths)}${random.next() < 0.3 ? value() : ''}${query === '' ? '' : `?${query}`}`.replaceAll(
      /[^\u0021-\u007e]/g,
      '+',
    ),
    headers: {
      accept: pick(accepts),
      ...(body === '' ? {} : { 'content-type': pick(types) }),
      ...(random.next() < 0.1 ? { 'x-forwarded-for': noise(), 'x-forwarded-host': noise() } : {}),
      ...(random.next() < 0.1 ? { authorization: `Bearer ${noise()}` } : {}),
      ...(random.next() < 0.1 ? { 'if-none-match': noise(), 'sec-fetch-site': pick(['cross-site', 'none', 'x']) } : {}),
    },
    body,
  };
}

/** Sends it, and gives what is wrong with the answer, or null: no 5xx, and every failure a JSON body of the table, or a page for a browser. */
export async function complaintOf(base: string, one: BadRequest, agent: Agent): Promise<string | null> {
  const { port, hostname } = new URL(base);
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const { method, path, headers } = one;
    const length = one.body === '' ? {} : { 'content-length': String(Buffer.byteLength(one.body)) };
    send({ host: hostname, port, method, path, headers: { ...headers, ...length }, agent })
      .on('response', resolve)
      .on('error', reject)
      .end(one.body);
  });
  const body = await text(answer);
  const { statusCode: status = 0, headers } = answer;
  const told = `${one.method} ${one.path}: ${status} ${body.slice(0, 200)}`;
  if (status >= 500) return told;
  if (headers['x-injected'] !== undefined) return `${told}: injected header`;
  if (status < 400 || one.method === 'HEAD') return null;
  if (headers['content-type'] === 'text/html; charset=utf-8' && one.headers['accept']?.startsWith('text/html') === true)
    return /<main\b/.test(body) && !/<script>|<img src=x/i.test(body) ? null : told;
  if (headers['content-type'] !== 'application/json; charset=utf-8')
    return `${told}: ${headers['content-type'] ?? 'no type'}`;
  const read = ErrorBody.safeParse(JSON.parse(body));
  return read.success && read.data.ok === 0 && read.data.error in apiErrors ? null : told;
}
