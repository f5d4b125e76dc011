import { find, type SourceNode } from '#config/read/located.ts';
import { durationWithin, foreignDuration, timeoutFor } from '../convert.ts';
import { type Draft, labelsOf, type PlainMap, type PlainValue } from '../draft.ts';
import { placeAt } from '../source.ts';
import type { readAlerting } from './alerting.ts';
import { parseCondition } from './condition.ts';
import { checkOfEndpoint } from './endpoint.ts';
import { GatusSuite } from './schema.ts';

interface SuiteContext {
  readonly draft: Draft;
  readonly alerting: ReturnType<typeof readAlerting>;
}

type SuiteEndpoint = GatusSuite['endpoints'][number];
type Say = (kind: 'lost' | 'differs', at: readonly (string | number)[], text: string) => void;

/** Adds the flow that a suite is, if all of its endpoints are requests. */
export function addSuite(
  root: SourceNode,
  path: readonly (string | number)[],
  { draft, alerting }: SuiteContext,
): void {
  const place = placeAt(root, path);
  const read = GatusSuite.safeParse(find(root, path)?.value);
  if (!read.success) {
    const [issue] = read.error.issues;
    draft.note('left out', place, `a suite that cannot be read: ${issue?.path.join('.')}: ${issue?.message}`);
    return;
  }
  const suite = read.data;
  const title = suite.group === '' ? suite.name : `${suite.group}/${suite.name}`;
  if (!suite.enabled) return draft.note('left out', place, `${title}: it is not enabled`);
  const everyMs = foreignDuration(suite.interval) ?? 60_000;
  const say: Say = (kind, at, text) => draft.note(kind, placeAt(root, [...path, ...at]), `${title}: ${text}`);
  const flow = flowOf(suite, everyMs, say);
  if (typeof flow === 'string') return draft.note('left out', place, `${title}: ${flow}`);
  say('differs', [], 'cookies are kept between its requests, and values are encoded in addresses, forms and JSON');
  const alerts = suite.endpoints.flatMap((endpoint) => endpoint.alerts);
  const { rule, notify } = alerting(alerts, { title, group: suite.group, place });
  draft.target({
    place,
    title,
    origin: null,
    keys: {
      ...flow,
      every: durationWithin(everyMs, 1_000, 2_592_000_000),
      rules: [rule],
      notify,
      labels: labelsOf([['group', suite.group]]),
    },
  });
}

function flowOf(suite: GatusSuite, everyMs: number, say: Say): PlainMap | string {
  const { endpoints, context } = suite;
  const [first] = endpoints;
  if (first === undefined) return 'it has no endpoints';
  if (endpoints.length > 20) return 'it has more than 20 endpoints';
  const values = Object.fromEntries(Object.entries(context).map(([key, value]) => [nameOf(key), value]));
  const known = new Set(Object.keys(values));
  const steps: PlainMap[] = [];
  let host: string | null = null;
  let isUnverified = false;
  for (const [index, endpoint] of endpoints.entries()) {
    if (!endpoint.enabled) {
      say('differs', ['endpoints', index], `${endpoint.name} is not enabled, and no step`);
      continue;
    }
    const made = stepOf(endpoint, { index, everyMs, group: suite.group, context, say });
    if (typeof made === 'string') return `${endpoint.name}: ${made}`;
    const unknown = [...JSON.stringify(made.keys).matchAll(/\{\{(\w+)\}\}/g)].find(([, name = '']) => !known.has(name));
    if (unknown !== undefined) return `${endpoint.name}: ${unknown[0]} is not known by then`;
    for (const name of made.stored) known.add(name);
    host ??= URL.canParse(made.url) ? new URL(made.url).origin : null;
    isUnverified ||= endpoint.client.insecure;
    steps.push(made.keys);
  }
  if (host === null) return 'the address of its first endpoint is not known beforehand';
  if (isUnverified) say('differs', [], 'no certificate is verified, as for one of its endpoints');
  const used = JSON.stringify(steps);
  const needed = Object.entries(values).filter(([name]) => used.includes(`{{${name}}}`));
  return {
    check: 'flow',
    host,
    timeout: timeoutFor(Math.min(foreignDuration(suite.timeout) ?? 60_000, 60_000), everyMs),
    values: needed.length === 0 ? undefined : Object.fromEntries(needed),
    tls: isUnverified ? { verify: false } : undefined,
    steps,
  };
}

interface StepContext {
  readonly index: number;
  readonly everyMs: number;
  readonly group: string;
  readonly context: GatusSuite['context'];
  readonly say: Say;
}

function stepOf(
  endpoint: SuiteEndpoint,
  { index, everyMs, group, context, say }: StepContext,
): { readonly keys: PlainMap; readonly url: string; readonly stored: readonly string[] } | string {
  const at = ['endpoints', index];
  // What stands at the beginning decides about the protocol.
  const start = endpoint.url.replace(/^\[CONTEXT\]\.([\w.-]+)/, (whole, key: string) => context[key] ?? whole);
  const url = templateOf(start);
  const headers = Object.fromEntries(Object.entries(endpoint.headers).map(([name, text]) => [name, templateOf(text)]));
  const made = checkOfEndpoint({ ...endpoint, group, url, headers, body: templateOf(endpoint.body) }, everyMs);
  if ('leftOut' in made) return made.leftOut;
  const { check, host: _host, timeout: _timeout, tls: _tls, proxy, oauth2, ...keys } = made.keys;
  if (check !== 'http') return 'only http requests can be steps';
  if (proxy !== undefined || oauth2 !== undefined) return 'steps have no proxy and no oauth2';
  for (const { kind, key, text } of made.remarks) say(kind, [...at, key], text);
  for (const { index: place, why } of made.wanted.lost)
    say('lost', [...at, 'conditions', place], `the condition ${endpoint.conditions[place]}: ${why}`);
  if (made.wanted.domain !== null) say('lost', at, 'a condition on the registration of a domain');
  if (endpoint['always-run']) say('lost', at, `${endpoint.name} is not sent after a step that failed`);
  const capture: Record<string, PlainValue> = {};
  for (const [key, from] of Object.entries(endpoint.store)) {
    const taken = captureOf(from);
    if (taken === null) say('lost', [...at, 'store', key], `${key}: only values of [BODY] can be captured`);
    else capture[nameOf(key)] = taken;
  }
  const stored = Object.keys(capture);
  return {
    url,
    stored,
    keys: { name: endpoint.name.slice(0, 50), url, ...keys, capture: stored.length === 0 ? undefined : capture },
  };
}

function captureOf(placeholder: string): PlainMap | null {
  const left = parseCondition(`${placeholder} == x`)?.left;
  if (left?.of !== 'BODY' || left.wrap !== null) return null;
  return left.path === '$' ? { regex: '(?s)^.*$' } : { json: left.path };
}

const templateOf = (text: string) =>
  text.replaceAll(/\[CONTEXT\]\.([\w-]+)/g, (_, key: string) => `{{${nameOf(key)}}}`);

// Names have letters, digits and underscores.
function nameOf(key: string): string {
  const name = key.replaceAll(/\W/g, '_').slice(0, 31);
  return /^[a-z]/i.test(name) ? name : `v${name}`.slice(0, 32);
}
