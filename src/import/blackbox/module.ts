import { z } from 'zod';
import { foreignDuration, literalOfRegex, payloadText, recordTypes, statusRanges, timeoutFor } from '../convert.ts';
import type { Made, Plain, PlainMap, Say } from '../draft.ts';

const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const Texts = z.array(Text).default([]);
const Tls = z
  .looseObject({
    insecure_skip_verify: z.boolean().default(false),
    server_name: Text.optional(),
    ca_file: Text.optional(),
    cert_file: Text.optional(),
    key_file: Text.optional(),
    min_version: Text.optional(),
  })
  .prefault({});
const HeaderMatch = z.looseObject({ header: Text, regexp: Text, allow_missing: z.boolean().default(false) });
const family = { preferred_ip_protocol: Text.default('ip6'), ip_protocol_fallback: z.boolean().default(true) };

const Http = z.looseObject({
  ...family,
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

const Step = z.looseObject({
  expect: Text.optional(),
  send: z.union([Text, z.instanceof(Uint8Array)]).optional(),
  starttls: z.boolean().default(false),
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
  recursion_desired: z.boolean().default(true),
  valid_rcodes: Texts,
});
const Icmp = z.looseObject({ ...family, payload_size: z.int().default(28) });

export const Module = z.looseObject({
  prober: Text,
  timeout: Text.optional(),
  http: Http.prefault({}),
  tcp: Tcp.prefault({}),
  dns: Dns.prefault({}),
  icmp: Icmp.prefault({}),
});
export type Module = z.output<typeof Module>;

interface Making {
  readonly module: Module;
  /** What the prober is pointed at. */
  readonly target: string;
  readonly timeout: string;
  readonly say: Say;
}

/** The check of a module for a target, or why there is none. `limitMs` is the longest that a scrape takes. */
export function checkOfModule(module: Module, target: string, limitMs: number, everyMs: number, say: Say): Made {
  const make = probers[module.prober];
  if (make === undefined) return { leftOut: `there is no check for the prober ${module.prober}` };
  const ownMs = module.timeout === undefined ? limitMs : (foreignDuration(module.timeout) ?? limitMs);
  // The exporter gives up half a second before the scrape does.
  return make({ module, target, timeout: timeoutFor(Math.min(ownMs, limitMs - 500), everyMs), say });
}

const probers: Readonly<Record<string, (making: Making) => Made>> = { http, tcp, dns, icmp };

const familyOf = (settings: { readonly preferred_ip_protocol: string; readonly ip_protocol_fallback: boolean }) =>
  settings.ip_protocol_fallback ? undefined : settings.preferred_ip_protocol === 'ip4' ? 4 : 6;

const barred = ['proxy_url', 'proxy_from_environment', 'oauth2', 'body_file', 'enable_http3'] as const;
const notCarried = [
  'body_size_limit',
  'compression',
  'http_headers',
  'fail_if_body_json_matches_cel',
  'fail_if_body_json_not_matches_cel',
];

function http({ module: { http: settings }, target, timeout, say }: Making): Made {
  const cannot = barred.find((key) => settings[key] !== undefined && settings[key] !== false);
  if (cannot !== undefined) return { leftOut: `its module has ${cannot}, which no check can do` };
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
    family: familyOf(settings),
    http2: settings.enable_http2 ? undefined : 'never',
    redirects: settings.follow_redirects ? 5 : undefined,
    tls: Object.values(verification).every((value) => value === undefined) ? undefined : verification,
    expect: {
      status: codes.length === 0 ? '200-299' : (statusRanges((code) => codes.includes(code)) ?? '200-299'),
      headers: headersOf(settings, say),
      body: bodyOf(settings, say),
    },
  };
}

function headersOf(
  { fail_if_header_matches: bad, fail_if_header_not_matches: good }: z.output<typeof Http>,
  say: Say,
): PlainMap | undefined {
  if (bad.length > 0) say('lost', `fail_if_header_matches: ${bad.map(({ header }) => header).join(', ')}`);
  const strict = good.filter(({ allow_missing }) => !allow_missing);
  if (strict.length < good.length) say('lost', 'headers of its module that may be missing');
  return strict.length === 0
    ? undefined
    : Object.fromEntries(strict.map(({ header, regexp }) => [header, { regex: regexp }]));
}

// One text that has to be there, one pattern, and one text that must not be there.
function bodyOf(
  { fail_if_body_matches_regexp: bad, fail_if_body_not_matches_regexp: good }: z.output<typeof Http>,
  say: Say,
): PlainMap | undefined {
  const body: Record<string, Plain> = {};
  for (const pattern of good) {
    const text = literalOfRegex(pattern);
    if (text !== null && body['contains'] === undefined) body['contains'] = text;
    else if (body['regex'] === undefined) body['regex'] = pattern;
    else say('lost', `fail_if_body_not_matches_regexp: ${pattern}`);
  }
  for (const pattern of bad) {
    const text = literalOfRegex(pattern);
    if (text === null || body['not_contains'] !== undefined) say('lost', `fail_if_body_matches_regexp: ${pattern}`);
    else body['not_contains'] = text;
  }
  return Object.keys(body).length === 0 ? undefined : body;
}

function tcp({ module: { tcp: settings }, target, timeout, say }: Making): Made {
  const { query_response: steps, tls_config: tls } = settings;
  if (tls.ca_file !== undefined) return { leftOut: 'its module names certificates in files: give them in tls.ca' };
  const [first, second] = steps;
  const sent = first?.send ?? (first?.expect === undefined ? undefined : null);
  const isSimple =
    steps.length <= 2 &&
    !steps.some(({ starttls }) => starttls) &&
    (steps.length < 2 || (typeof sent === 'string' && second?.send === undefined));
  if (!isSimple) say('lost', 'the dialogue: only its beginning is played, and nothing after STARTTLS');
  const talk = isSimple
    ? { send: first?.send, expect: first?.expect ?? second?.expect }
    : { send: undefined, expect: first?.send === undefined ? first?.expect : undefined };
  const options = { verify: tls.insecure_skip_verify ? false : undefined, server_name: tls.server_name };
  const isPlain = Object.values(options).every((value) => value === undefined);
  return {
    check: 'tcp',
    host: target.replace(/^\w+:\/\//, ''),
    timeout,
    family: familyOf(settings),
    tls: settings.tls ? (isPlain ? true : options) : undefined,
    send:
      talk.send === undefined
        ? undefined
        : typeof talk.send === 'string'
          ? payloadText(`${talk.send}\n`)
          : { base64: Buffer.from(talk.send).toString('base64') },
    expect: talk.expect === undefined ? undefined : { regex: talk.expect },
  };
}

function dns({ module: { dns: settings }, target, say }: Making): Made {
  const type = settings.query_type.toUpperCase();
  if (settings.dns_over_tls) return { leftOut: 'its module asks over TLS, which no check can do' };
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
    protocol: settings.transport_protocol === 'tcp' ? 'tcp' : undefined,
    recursion: settings.recursion_desired ? undefined : false,
    expect: rcode === undefined ? undefined : { rcode },
  };
}

function icmp({ module: { icmp: settings }, target, timeout, say }: Making): Made {
  for (const key of ['dont_fragment', 'ttl', 'source_ip_address']) if (settings[key] !== undefined) say('lost', key);
  const size = settings['payload_size'] === 28 ? undefined : `${Math.min(Math.max(settings.payload_size, 8), 1_472)}B`;
  return { check: 'ping', host: target, count: 1, size, timeout, family: familyOf(settings) };
}
