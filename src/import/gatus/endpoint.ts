import { durationWithin, foreignDuration, payloadText, recordTypes, timeoutFor } from '../convert.ts';
import { isSkipped, type PlainValue, type PlainMap } from '../draft.ts';
import { clientKeysOf } from './client.ts';
import { bare, type ConversionRemark, type EndpointConversion, textWanted } from './conversion.ts';
import { readConditions, type EndpointExpectations } from './expect.ts';
import type { GatusEndpoint } from './schema.ts';
import { ssh } from './ssh.ts';

/** A check made of an endpoint, or why there is none. */
export type CheckConversion = CheckDraft | { readonly leftOut: string };

interface CheckDraft {
  readonly keys: PlainMap;
  readonly wanted: EndpointExpectations;
  readonly remarks: readonly ConversionRemark[];
}

/** The check of an endpoint that is made every so often. */
export function checkOfEndpoint(endpoint: GatusEndpoint, everyMs: number): CheckConversion {
  const remarks: ConversionRemark[] = [];
  const wanted = readConditions(endpoint.conditions);
  const { client } = endpoint;
  if (!wanted.isConnected) return { leftOut: 'it has to be out of reach, and no check is up when its target is down' };
  const say: EndpointConversion['say'] = (kind, key, text) => void remarks.push({ kind, key, text });
  if (client['dns-resolver'] !== undefined)
    say('differs', 'client', "its name is resolved by the node's own name servers, not by client.dns-resolver");

  const scheme = endpoint.dns === undefined ? (/^([a-z]+):\/\//.exec(endpoint.url)?.[1] ?? '') : 'dns';
  const make = makers[scheme];
  if (make === undefined) return { leftOut: `there is no check for ${scheme === '' ? endpoint.url : `${scheme}://`}` };
  const way = clientKeysOf(client, scheme, (kind, text) => say(kind, 'client', text));
  if (isSkipped(way)) return way;
  const timeout = timeoutFor(foreignDuration(client.timeout) ?? 10_000, everyMs);
  const keys = make({ endpoint, wanted, timeout, say });
  return typeof keys === 'string' ? { leftOut: keys } : { keys: { ...keys, ...way }, wanted, remarks };
}

const makers: Readonly<Record<string, (making: EndpointConversion) => PlainMap | string>> = {
  http,
  https: http,
  tcp: (making) => ({ ...bare(making.endpoint, 'tcp', making.timeout), ...dialogue(making) }),
  tls(making) {
    const { endpoint, timeout } = making;
    if (endpoint.body === '') return handshake(making);
    const tls = endpoint.client.insecure ? { verify: false } : true;
    return { ...bare(endpoint, 'tcp', timeout), tls, ...dialogue(making) };
  },
  starttls: (making) => ({ ...handshake(making), starttls: 'smtp' }),
  ws: webSocket,
  wss: webSocket,
  grpc,
  grpcs: grpc,
  ssh,
  udp(making) {
    const { endpoint, timeout, say } = making;
    const talk = dialogue(making);
    if (endpoint.body !== '') return { ...bare(endpoint, 'udp', timeout), ...talk };
    say('differs', 'url', 'it is asked with two line ends; a refused port is down, silence is up as before');
    return { ...bare(endpoint, 'udp', timeout), silence: 'up' };
  },
  icmp({ endpoint, timeout }) {
    const family = { ip4: 4, ip6: 6 }[endpoint.client.network];
    const host = endpoint.url.replace(/^icmp:\/\//, '');
    return { check: 'ping', host, count: 1, timeout: timeoutFor(foreignDuration(timeout) ?? 0, 60_000), family };
  },
  dns,
};

// What an answer has to be like is of no account if none is read.
function handshake({ endpoint, wanted, timeout }: EndpointConversion): PlainMap {
  const { certificateMs } = wanted;
  return {
    ...bare(endpoint, 'tls', timeout),
    verify: endpoint.client.insecure ? false : undefined,
    expect: certificateMs === null ? undefined : { valid_for: durationWithin(certificateMs, 0, 315_360_000_000) },
  };
}

function webSocket(making: EndpointConversion): PlainMap {
  const { endpoint, timeout, say } = making;
  const { body, headers, client, url } = endpoint;
  if (body === '') say('differs', 'url', 'no empty message is sent, and none is waited for');
  const any = body === '' ? undefined : { regex: '^' };
  return {
    check: 'websocket',
    host: url,
    timeout: timeout === '10s' ? undefined : timeout,
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    send: body === '' ? undefined : payloadText(body),
    expect: textWanted(making) ?? any,
    tls: client.insecure ? { verify: false } : undefined,
  };
}

function grpc({ endpoint, wanted, timeout, say }: EndpointConversion): PlainMap {
  const { json, ...others } = wanted.body;
  if (JSON.stringify(json) !== JSON.stringify({ path: '$.status', equals: 'SERVING' })) {
    if (json !== undefined || Object.keys(others).length > 0)
      say('lost', 'conditions', 'conditions on [BODY]: the server has to say that it is SERVING');
    else say('differs', 'url', 'the server has to say that it is SERVING, not only to answer');
  }
  const tls = endpoint.client.insecure ? { verify: false } : true;
  return { ...bare(endpoint, 'grpc', timeout), tls: endpoint.url.startsWith('grpcs:') ? tls : undefined };
}

function http({ endpoint, wanted, timeout, say }: EndpointConversion): PlainMap {
  const { client, method, url } = endpoint;
  const text = bodyOf(endpoint);
  if (text.includes('[LOCAL_ADDRESS]') || /\[RANDOM_STRING_\d+\]/.test(text))
    say('lost', 'body', 'placeholders that change with every request are sent as they stand');
  const headers: Record<string, string> = { ...endpoint.headers };
  const has = (name: string) => Object.keys(headers).some((key) => key.toLowerCase() === name);
  if (endpoint.graphql && !has('content-type')) headers['Content-Type'] = 'application/json';
  const expect: Record<string, PlainValue | undefined> = {
    status: wanted.status ?? '100-999',
    body: Object.keys(wanted.body).length === 0 ? undefined : wanted.body,
    latency: wanted.latencyMs === null ? undefined : timeoutFor(wanted.latencyMs, 60_000),
    certificate:
      wanted.certificateMs === null
        ? undefined
        : { valid_for: durationWithin(wanted.certificateMs, 0, 315_360_000_000) },
  };
  return {
    check: 'http',
    host: url,
    timeout: timeout === '10s' ? undefined : timeout,
    method: method.toUpperCase() === 'GET' ? undefined : method.toUpperCase(),
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    body: text === '' ? undefined : text,
    redirects: client['ignore-redirect'] ? undefined : 5,
    tls: client.insecure ? { verify: false } : undefined,
    expect,
  };
}

// Without a question no answer is read.
function dialogue(making: EndpointConversion): PlainMap {
  const { body } = making.endpoint;
  return body === '' ? {} : { send: payloadText(body), expect: textWanted(making) };
}

function bodyOf(endpoint: GatusEndpoint): string {
  const text = endpoint.body
    .replaceAll('[ENDPOINT_NAME]', endpoint.name)
    .replaceAll('[ENDPOINT_GROUP]', endpoint.group)
    .replaceAll('[ENDPOINT_URL]', endpoint.url);
  return endpoint.graphql ? JSON.stringify({ query: text }) : text;
}

function dns({ endpoint, wanted, say }: EndpointConversion): PlainMap | string {
  const record = (endpoint.dns?.['query-type'] ?? '').toUpperCase();
  if (!recordTypes.includes(record)) return `there is no check for ${record} records`;
  const said = [...wanted.answers, ...wanted.refused];
  if (said.length > 0 && record === 'MX')
    say('lost', 'conditions', `the answer ${said.join(', ')}: an MX record is compared with its priority`);
  const answers = record === 'MX' || wanted.answers.length === 0 ? undefined : wanted.answers;
  const refused = record === 'MX' || wanted.refused.length === 0 ? undefined : wanted.refused;
  if (answers !== undefined) say('differs', 'conditions', 'one of all records has to be as expected, not the last one');
  if (refused !== undefined) say('differs', 'conditions', 'no record may equal that, not only the last one');
  const patterns = ['contains', 'not_contains', 'regex', 'not_regex'].flatMap((key) => wanted.body[key] ?? []).length;
  if (patterns > said.length) say('lost', 'conditions', 'a pattern for an answer: records are compared as a whole');
  const expect = {
    rcode: wanted.rcode ?? undefined,
    ...(answers === undefined ? {} : { match: 'any', [record]: answers.length === 1 ? answers[0] : answers }),
    ...(refused === undefined ? {} : { not: { [record]: refused.length === 1 ? refused[0] : refused } }),
  };
  return {
    check: 'dns',
    host: (endpoint.dns?.['query-name'] ?? '').replace(/\.$/, ''),
    record,
    resolver: endpoint.url.replace(/^[a-z]+:\/\//, ''),
    expect: Object.values(expect).every((value) => value === undefined) ? undefined : expect,
  };
}

/** What no expectation of this check can say, and a rule says instead. */
export function rulesBesides({
  keys: { check },
  wanted,
}: CheckDraft): readonly { readonly name: string; readonly body: PlainMap }[] {
  if (check === 'http') return [];
  const rules: { name: string; body: PlainMap }[] = [];
  if (wanted.latencyMs !== null) {
    const above = timeoutFor(wanted.latencyMs, 60_000);
    rules.push({ name: `slow-${above}`, body: { latency: { above, statistic: 'last' } } });
  }
  if (wanted.certificateMs !== null && check === 'tcp') {
    const hours = Math.max(1, Math.round(wanted.certificateMs / 3_600_000));
    rules.push({ name: `certificate-${hours}h`, body: { certificate: { expires_within: `${hours}h` } } });
  }
  return rules;
}
