import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { EnvironmentVariables } from '#config/read/environment.ts';
import { find, type SourceNode } from '#config/read/located.ts';
import { orExplain, readSources, type SourceText } from '#config/read/source.ts';
import { foreignDuration, durationWithin } from '../convert.ts';
import { addDomains, domainOf, type DomainTarget } from '../domains.ts';
import { Draft, labelsOf } from '../draft.ts';
import { sentInHeader } from '../http-client.ts';
import { joinDeep, mapTexts, placeAt, readForeign } from '../source.ts';
import { readAlerting } from './alerting.ts';
import { checkOfEndpoint, rulesBesides } from './endpoint.ts';
import { addExternal } from './external.ts';
import { GatusEndpoint, GatusMaintenance } from './schema.ts';
import { addSuite } from './suite.ts';
import { judgeOfEndpoint } from './verdict.ts';

/** A draft of what Gatus watches by these files, or by a folder of them with folders in it. */
export async function importGatus(paths: readonly string[], env: EnvironmentVariables): Promise<Draft> {
  const sources = (await Promise.all(paths.map(filesUnder))).flat();
  const root = joinDeep(sources.map((source, order) => mapTexts(readForeign(source, order), expandable)));
  const draft = new Draft();
  const alerting = readAlerting(root, draft, env);
  const domains: DomainTarget[] = [];
  for (const [index] of find(root, ['endpoints'])?.children ?? [])
    addEndpoint(root, ['endpoints', Number(index)], { draft, alerting, domains, env });
  addDomains(draft, domains, placeAt(root, []));
  for (const [index] of find(root, ['external-endpoints'])?.children ?? [])
    addExternal(root, ['external-endpoints', Number(index)], { draft, alerting, env });
  for (const [index] of find(root, ['suites'])?.children ?? [])
    addSuite(root, ['suites', Number(index)], { draft, alerting });
  const maintenance = find(root, ['maintenance']);
  if (maintenance !== null) addWindow(maintenance.value, 'all', placeAt(root, ['maintenance']), draft);
  noteSections(root, draft);
  noteGeneralities(draft, placeAt(root, []));
  return draft;
}

// `$NAME` and `${NAME}` are the environment there, `$$` is a plain dollar.
function expandable(text: string): string {
  const named = text.replaceAll(/\$\$|\$\{(\w+)\}|\$([A-Za-z_]\w*)/g, (found: string, braced?: string, bare?: string) =>
    found === '$$' ? '\0' : `\${${braced ?? bare}}`,
  );
  return named.replaceAll('\0{', () => '$${').replaceAll('\0', '$');
}

async function filesUnder(path: string): Promise<readonly SourceText[]> {
  const own = await orExplain(path, stat(path));
  if (!own.isDirectory()) return (await readSources(path)).sources;
  const names = (await readdir(path, { recursive: true })).filter((name) => /\.ya?ml$/.test(name)).toSorted();
  const read = await Promise.all(names.map(async (name) => readSources(join(path, name))));
  return read.flatMap(({ sources }) => sources);
}

interface EndpointContext {
  readonly draft: Draft;
  readonly alerting: ReturnType<typeof readAlerting>;
  readonly domains: DomainTarget[];
  readonly env: EnvironmentVariables;
}

function addEndpoint(
  root: SourceNode,
  path: readonly (string | number)[],
  { draft, alerting, domains, env }: EndpointContext,
): void {
  const place = placeAt(root, path);
  const read = GatusEndpoint.safeParse(find(root, path)?.value);
  if (!read.success) {
    const [issue] = read.error.issues;
    draft.note('left out', place, `an endpoint that cannot be read: ${issue?.path.join('.')}: ${issue?.message}`);
    return;
  }
  const endpoint = read.data;
  const title = endpoint.group === '' ? endpoint.name : `${endpoint.group}/${endpoint.name}`;
  if (!endpoint.enabled) return draft.note('left out', place, `${title}: it is not enabled`);
  const everyMs = foreignDuration(endpoint.interval) ?? 60_000;
  const checked = checkOfEndpoint(endpoint, everyMs);
  if ('leftOut' in checked) return draft.note('left out', place, `${title}: ${checked.leftOut}`);

  for (const { kind, key, text } of checked.remarks)
    draft.note(kind, placeAt(root, [...path, key]), `${title}: ${text}`);
  for (const { index, why } of checked.wanted.lost) {
    const where = placeAt(root, [...path, 'conditions', index]);
    draft.note('lost', where, `${title}: the condition ${endpoint.conditions[index]}: ${why}`);
  }
  const { rule, notify } = alerting(endpoint.alerts, { title, group: endpoint.group, place });
  if (checked.wanted.domain !== null) {
    const { leastMs, index } = checked.wanted.domain;
    const condition = placeAt(root, [...path, 'conditions', index]);
    const domain = domainOf(endpoint.url);
    if (domain === null)
      draft.note(
        'lost',
        condition,
        `${title}: the condition ${endpoint.conditions[index]}: no domain in its address is registered with a registry`,
      );
    else domains.push({ place: condition, title, domain, withinMs: leastMs, rule, notify });
  }
  const besides = rulesBesides(checked).map(({ name, body }) => {
    draft.note(
      'differs',
      placeAt(root, [...path, 'conditions']),
      `${title}: ${name} is a separate rule, not part of being up`,
    );
    return draft.rule(name, body);
  });
  const alerts = endpoint.alerts.filter(({ description }) => description !== undefined);
  if (alerts.length > 0)
    draft.note('lost', placeAt(root, [...path, 'alerts']), `${title}: the description of its alerts`);
  const name = draft.target({
    place,
    title,
    origin: null,
    judge: judgeOfEndpoint(endpoint, env),
    keys: {
      ...checked.keys,
      every: durationWithin(everyMs, 1_000, 2_592_000_000),
      rules: [rule, ...besides],
      notify,
      labels: labelsOf([['group', endpoint.group], ...Object.entries(endpoint['extra-labels'])]),
    },
  });
  endpoint['maintenance-windows'].forEach((window, index) =>
    addWindow(window, [name], placeAt(root, [...path, 'maintenance-windows', index]), draft),
  );
}

const days: readonly string[] = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

function addWindow(value: unknown, targets: 'all' | readonly string[], place: string, draft: Draft): void {
  const read = GatusMaintenance.safeParse(value);
  if (read.success && !read.data.enabled) return;
  const durationMs = read.success ? foreignDuration(read.data.duration) : null;
  const [, hour, minute] = /^(\d\d):(\d\d)$/.exec(read.data?.start ?? '') ?? [];
  if (!read.success || durationMs === null || hour === undefined)
    return draft.note('lost', place, 'a maintenance window that cannot be read');
  const on = read.data.every.map((day) => days.indexOf(day)).filter((day) => day !== -1);
  const cron = `${Number(minute)} ${Number(hour)} * * ${on.length === 0 ? '*' : on.join(',')}`;
  draft.maintenance.push({
    targets,
    cron,
    timezone: read.data.timezone,
    duration: durationWithin(durationMs, 60_000, 2_592_000_000),
  });
}

const unused: Readonly<Record<string, readonly ['lost' | 'differs', string]>> = {
  connectivity: [
    'differs',
    'not needed: when no node reaches anything, Watchpost reports that instead of every target',
  ],
  storage: ['differs', 'results go to the database at data; what Gatus has stored stays there'],
  web: ['differs', 'the web server is set up under http; it listens on 127.0.0.1:8080'],
  security: ['lost', 'signing in to the pages'],
  ui: ['lost', 'the looks of the dashboard'],
  announcements: ['lost', 'announcements'],
  remote: ['lost', 'endpoints of other instances'],
  tunneling: ['lost', 'SSH tunnels'],
};

function noteSections(root: SourceNode, draft: Draft): void {
  for (const [section, [kind, text]] of Object.entries(unused)) {
    if (find(root, [section]) !== null) draft.note(kind, placeAt(root, [section]), text);
  }
}

function noteGeneralities(draft: Draft, place: string): void {
  const targets = [...draft.targets.values()].map(({ keys }) => JSON.stringify(keys));
  const say = (holds: boolean, text: string) =>
    holds ? draft.note('differs', place, `everywhere: ${text}`) : undefined;
  say(
    targets.some((text) => text.includes('"oauth2"')),
    sentInHeader,
  );
  say(
    targets.some((text) => text.includes('"redirects"')),
    'five redirects are followed at most, not ten',
  );
  say(
    targets.some((text) => text.includes('"latency"')),
    'a response time is that of the whole answer, not of its head',
  );
  say(
    targets.some((text) => text.includes('"json"')),
    'a number in quotes is not compared as a number, and a length of an object is the number of its members',
  );
  say(
    draft.notify.size > 0,
    'all recipients of an incident are notified of its end, and incidents that begin within 30s share a message',
  );
}
