import { z } from 'zod';
import { foreignDuration, literalOfRegex, recordTypes, statusRanges, timeoutFor } from '../convert.ts';
import { isSkipped, type DraftEntry, type PlainValue, type PlainMap, type DifferenceReporter } from '../draft.ts';
import { way, clientKeysOf } from './client.ts';
import { Step, stepsOf, dialogueKeysOf } from './dialogue.ts';
import { family, familyOf, Text, Tls, tlsOptions } from './shared-settings.ts';
import { Grpc, grpcCheck, Websocket, websocketCheck } from './upgraded.ts';

const Texts = z.array(Text).default([]);
const HeaderMatch = z.looseObject({ header: Text, regexp: Text, allow_missing: z.boolean().default(false) });

const Http = z.looseObject({
  ...family,
  ...way,
  valid_status_codes: z.array(z.int()).default([]),
  valid_http_versions: Texts,
  method: Text.default('GET'),
  headers: z.record(z.string(), Text).default({}),
  follow_redirects: z.boolean().default(true),
  fail_if_ssl: z.boolean().default(false),
  fail_if_not_ssl: z.boolean().default(false),
  fail_if_body_matches_regexp: Texts,
  fail_if_body_not_matches_regexp: Texts,
  fail_if_header_matches: z.array(HeaderMatch).default([]),
  fail_if_header_not_matches: z.array(HeaderMatch).default([]),
  tls_config: Tls,
  basic_auth: z.looseObject({ username: Text.default(''), password: Text.optional() }).optional(),
  authorization: z.looseObject({ type: Text.default('Bearer'), credentials: Text.optional() }).optional(),
  bearer_token: Text.optional(),
  body: Text.optional(),
  enable_http2: z.boolean().default(true),
});

const Tcp = z.looseObject({
  ...family,
  query_response: z.array(Step).default([]),
  tls: z.boolean().default(false),
  tls_config: Tls,
});
const Dns = z.looseObject({
  ...family,
  query_name: Text.default(''),
  query_type: Text.default('ANY'),
  transport_protocol: Text.default('udp'),
  dns_over_tls: z.boolean().default(false),
  tls_config: Tls,
  recursion_desired: z.boolean().default(true),
  valid_rcodes: Texts,
});
const Icmp = z.looseObject({
  ...family,
  payload_size: z.int().default(28),
  dont_fragment: z.boolean().default(false),
  ttl: z.int().optional(),
});

export const Module = z.looseObject({
  prober: Text,
  timeout: Text.optional(),
  http: Http.prefault({}),
  tcp: Tcp.prefault({}),
  dns: Dns.prefault({}),
  icmp: Icmp.prefault({}),
  grpc: Grpc.prefault({}),
  websocket: Websocket.prefault({}),
});
export type Module = z.output<typeof Module>;

interface ModuleConversion {
  readonly module: Module;
  /** What the prober is pointed at. */
  readonly target: string;
  readonly timeout: string;
  readonly say: DifferenceReporter;
}

/** The check of a module for a target, or why there is none. `limitMs` is the longest that a scrape takes. */
export function checkOfModule(
  module: Module,
  target: string,
  limitMs: number,
  everyMs: number,
  say: DifferenceReporter,
): DraftEntry {
  const make = probers[module.prober];
  if (make === undefined) return { leftOut: `there is no check for the prober ${module.prober}` };
  const ownMs = module.timeout === undefined ? limitMs : (foreignDuration(module.timeout) ?? limitMs);
  // The exporter gives up half a second before the scrape does.
  return make({ module, target, timeout: timeoutFor(Math.min(ownMs, limitMs - 500), everyMs), say });
}

const probers: Readonly<Record<string, (making: ModuleConversion) => DraftEntry>> = {
  http,
  tcp,
  dns,
  icmp,
  grpc: ({ module, ...making }) => grpcCheck(module.grpc, making),
  websocket: ({ module, ...making }) => websocketCheck(module.websocket, making),
};

const barred = ['body_file', 'enable_http3'] as const;
const notCarried = [
  'body_size_limit',
  'compression',
  'http_headers',
  'fail_if_body_json_matches_cel',
  'fail_if_body_json_not_matches_cel',
];

function http({ module: { http: settings }, target, timeout, say }: ModuleConversion): DraftEntry {
  const cannot = barred.find((key) => settings[key] !== undefined && settings[key] !== false);
  if (cannot !== undefined) return { leftOut: `its module has ${cannot}, which no check can do` };
  const reached = clientKeysOf(settings, say);
  if (isSkipped(reached)) return reached;
  const { tls_config: tls, basic_auth, authorization } = settings;
  if (tls.ca_file !== undefined || tls.cert_file !== undefined)
    return { leftOut: 'its module names certificates in files: give them in tls.ca and tls.client' };
  if (basic_auth !== undefined && basic_auth.password === undefined)
    return { leftOut: 'its module has a password in a file: give it in basic_auth' };
  if (settings.fail_if_ssl) return { leftOut: 'it has to answer without TLS, whatever its redirects say' };
  const host = target.includes('://') ? target : `http://${target}`;
  if (settings.fail_if_not_ssl && !host.startsWith('https:'))
    say('lost', 'fail_if_not_ssl: it is http and may lead elsewhere');
  for (const key of notCarried) if (settings[key] !== undefined) say('lost', key);
  if (settings.valid_http_versions.length > 0) say('lost', 'valid_http_versions');
  const bearer = settings.bearer_token ?? (authorization?.type === 'Bearer' ? authorization.credentials : undefined);
  const other =
    authorization !== undefined && authorization.type !== 'Bearer' && authorization.credentials !== undefined;
  const headers = {
    ...settings.headers,
    ...(other ? { Authorization: `${authorization.type} ${authorization.credentials}` } : {}),
  };
  const verification = { verify: tls.insecure_skip_verify ? false : undefined, server_name: tls.server_name };
  const { valid_status_codes: codes } = settings;
  return {
    check: 'http',
    host,
    timeout: timeout === '10s' ? undefined : timeout,
    method: settings.method === 'GET' ? undefined : settings.method,
    headers: Object.keys(headers).length === 0 ? undefined : headers,
    body: settings.body,
    basic_auth:
      basic_auth === undefined ? undefined : { username: basic_auth.username, password: basic_auth.password ?? '' },
    bearer,
    ...reached,
    family: familyOf(settings),
    http2: settings.enable_http2 ? undefined : 'never',
    redirects: settings.follow_redirects ? 5 : undefined,
    tls: Object.values(verification).every((value) => value === undefined) ? undefined : verification,
    expect: {
      status: codes.length === 0 ? '200-299' : (statusRanges((code) => codes.includes(code)) ?? '200-299'),
      headers: headersOf(settings, say),
      body: bodyOf(settings),
    },
  };
}

function headersOf(
  { fail_if_header_matches: bad, fail_if_header_not_matches: good }: z.output<typeof Http>,
  say: DifferenceReporter,
): PlainMap | undefined {
  const strict = good.filter(({ allow_missing }) => !allow_missing);
  if (strict.length < good.length) say('lost', 'headers of its module that may be missing');
  const wanted = [
    ...strict.map(({ header, regexp }) => [header, { regex: regexp }] as const),
    ...bad.map(({ header, regexp }) => [header, { not_regex: regexp }] as const),
    // A header that must not be like this has to be there all the same, unless it may be missing.
    ...bad.flatMap(({ header, allow_missing }) => (allow_missing ? [] : [[header, { regex: '^' }] as const])),
  ];
  const byName = Map.groupBy(wanted, ([header]) => header.toLowerCase());
  const headers = [...byName.values()].map((all) => {
    const expected = all.map(([, one]) => one);
    return [all[0]?.[0] ?? '', expected.length === 1 ? expected[0] : expected] as const;
  });
  return headers.length === 0 ? undefined : Object.fromEntries(headers);
}

// Texts if a pattern is nothing else.
function bodyOf({
  fail_if_body_matches_regexp: bad,
  fail_if_body_not_matches_regexp: good,
}: z.output<typeof Http>): PlainMap | undefined {
  const texts = (patterns: readonly string[]) => oneOrAll(patterns.flatMap((one) => literalOfRegex(one) ?? []));
  const others = (patterns: readonly string[]) => oneOrAll(patterns.filter((one) => literalOfRegex(one) === null));
  const body = {
    contains: texts(good),
    regex: others(good),
    not_contains: texts(bad),
    not_regex: others(bad),
  };
  return Object.values(body).every((value) => value === undefined) ? undefined : body;
}

const oneOrAll = (values: readonly string[]): PlainValue | undefined => (values.length > 1 ? values : values[0]);

function tcp({ module: { tcp: settings }, target, timeout, say }: ModuleConversion): DraftEntry {
  const { query_response: written, tls_config: tls } = settings;
  if (tls.ca_file !== undefined) return { leftOut: 'its module names certificates in files: give them in tls.ca' };
  const options = tlsOptions(tls);
  const startsLater = written.some(({ starttls }) => starttls);
  return {
    check: 'tcp',
    host: target.replace(/^\w+:\/\//, ''),
    timeout,
    family: familyOf(settings),
    tls: settings.tls ? (options ?? true) : startsLater ? options : undefined,
    ...dialogueKeysOf(stepsOf(written, say)),
  };
}

function dns({ module: { dns: settings }, target, say }: ModuleConversion): DraftEntry {
  const type = settings.query_type.toUpperCase();
  const { dns_over_tls: isEncrypted, tls_config: tls } = settings;
  if (isEncrypted && (tls.ca_file !== undefined || tls.cert_file !== undefined))
    return { leftOut: 'its module names certificates in files: give them in tls.ca' };
  if (type === 'ANY') say('differs', 'A and AAAA are asked for, not ANY');
  else if (!recordTypes.includes(type)) return { leftOut: `there is no check for ${type} records` };
  for (const key of ['validate_answer_rrs', 'validate_authority_rrs', 'validate_additional_rrs'])
    if (settings[key] !== undefined) say('lost', key);
  const [rcode, ...more] = settings.valid_rcodes;
  if (more.length > 0) say('lost', `further response codes: ${more.join(', ')}`);
  return {
    check: 'dns',
    host: settings.query_name.replace(/\.$/, ''),
    record: type === 'ANY' ? undefined : type,
    resolver: target.replace(/^\w+:\/\//, ''),
    protocol: isEncrypted ? 'tls' : settings.transport_protocol === 'tcp' ? 'tcp' : undefined,
    tls: isEncrypted ? tlsOptions(tls) : undefined,
    recursion: settings.recursion_desired ? undefined : false,
    expect: rcode === undefined ? undefined : { rcode },
  };
}

function icmp({ module: { icmp: settings }, target, timeout, say }: ModuleConversion): DraftEntry {
  if (settings['source_ip_address'] !== undefined) say('lost', 'source_ip_address');
  const size = settings['payload_size'] === 28 ? undefined : `${Math.min(Math.max(settings.payload_size, 8), 1_472)}B`;
  // As zero it stands for that of the system.
  const ttl = settings.ttl === 0 ? undefined : settings.ttl;
  const dont_fragment = settings.dont_fragment ? true : undefined;
  return { check: 'ping', host: target, count: 1, size, timeout, family: familyOf(settings), dont_fragment, ttl };
}
