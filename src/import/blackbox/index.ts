import { dirname, resolve } from 'node:path';
import { z } from 'zod';
import { find, type SourceNode } from '#config/read/located.ts';
import { filesLike, readSources } from '#config/read/source.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { durationWithin } from '../convert.ts';
import { Draft, labelsOf, isSkipped } from '../draft.ts';
import { joinDeep, placeAt, readForeign } from '../source.ts';
import { type AlertingRule, selects, readAlerts } from './alerts.ts';
import { type ProbeTarget, probedBy } from './jobs.ts';
import { checkOfModule, Module } from './module.ts';
import { type RoutingTree, readRouting } from './routes.ts';

interface BlackboxFiles {
  readonly modules: readonly SourceNode[];
  readonly prometheus: readonly { readonly root: SourceNode; readonly path: string }[];
  readonly rules: readonly SourceNode[];
  readonly alertmanager: SourceNode | null;
}

/**
 * A draft of what Prometheus probes through the blackbox exporter, by the modules of the exporter, the jobs and alerting rules of
 * Prometheus, and the routes of an Alertmanager: files in any order, told apart by what stands in them.
 */
export async function importBlackbox(paths: readonly string[]): Promise<Draft> {
  const draft = new Draft();
  const files = await sortFiles(paths);
  if (files.prometheus.length === 0)
    throw new WatchpostError(
      'usage',
      'the configuration of Prometheus is missing: its scrape_configs say what is probed',
    );
  if (files.modules.length === 0)
    throw new WatchpostError('usage', 'the configuration of the blackbox exporter is missing: it has the modules');
  const modules = joinDeep(files.modules);
  const alerts = readAlerts(files.rules, draft);
  const routing = readRouting(files.alertmanager, draft);
  if (files.alertmanager === null) for (const { root } of files.prometheus) addAlertmanager(root, draft);
  const severitiesOf = new Map<string, Set<string>>();
  for (const { root, path } of files.prometheus) {
    for (const probed of await probedBy(root, path, draft))
      addTarget(probed, { modules, alerts, routing, severitiesOf, draft });
  }
  for (const [name, severities] of severitiesOf) {
    const body = draft.notify.get(name);
    if (body !== undefined && severities.size < 3)
      draft.notify.set(name, { ...body, severities: [...severities].toSorted() });
  }
  const { path } = files.prometheus[0] ?? { path: '' };
  const say = (text: string) => draft.note('differs', path, `everywhere: ${text}`);
  say('IPv4 is preferred if a name has both, unless its module allows one only');
  say('five redirects are followed at most');
  if (alerts.length === 0) say('there are no alerts about probes: two failing rounds notify all recipients');
  return draft;
}

// Who routes by an Alertmanager may go on doing so.
function addAlertmanager(root: SourceNode, draft: Draft): void {
  const urls = [...(find(root, ['alerting', 'alertmanagers'])?.children.values() ?? [])].flatMap((one) => {
    const { scheme, path_prefix: prefix, static_configs: groups } = Alertmanager.catch(noAlertmanager).parse(one.value);
    return groups.flatMap(({ targets }) =>
      targets.map((target) => `${scheme}://${target}${prefix.replace(/\/$/, '')}`),
    );
  });
  if (urls.length > 0) draft.recipients('alertmanager', { alertmanager: { urls: [...new Set(urls)] } });
}

const noAlertmanager = { scheme: 'http', path_prefix: '', static_configs: [] };
const Alertmanager = z.looseObject({
  scheme: z.string().default('http'),
  path_prefix: z.string().default(''),
  static_configs: z.array(z.looseObject({ targets: z.array(z.string()).default([]) })).default([]),
});

async function sortFiles(paths: readonly string[]): Promise<BlackboxFiles> {
  const files = {
    modules: [] as SourceNode[],
    prometheus: [] as { root: SourceNode; path: string }[],
    rules: [] as SourceNode[],
  };
  let alertmanager: SourceNode | null = null;
  const seen = new Set<string>();
  const queue = [...paths];
  for (const path of queue) {
    if (seen.has(resolve(path))) continue;
    seen.add(resolve(path));
    const [source] = (await readSources(path)).sources;
    if (source === undefined) continue;
    const root = readForeign(source, seen.size);
    if (find(root, ['modules']) !== null) files.modules.push(root);
    else if (find(root, ['scrape_configs']) !== null) {
      files.prometheus.push({ root, path });
      const patterns = [...(find(root, ['rule_files'])?.children.values() ?? [])].map(({ value }) => String(value));
      for (const pattern of patterns) queue.push(...(await filesLike(resolve(dirname(path), pattern))));
    } else if (find(root, ['groups']) !== null || find(root, ['spec', 'groups']) !== null) files.rules.push(root);
    else if (find(root, ['route']) !== null) alertmanager = root;
    else throw new WatchpostError('usage', `${path} has neither modules, scrape_configs, groups of rules nor a route`);
  }
  return { ...files, alertmanager };
}

interface BlackboxConversion {
  readonly modules: SourceNode;
  readonly alerts: readonly AlertingRule[];
  readonly routing: RoutingTree;
  /** The severities that each recipient takes. */
  readonly severitiesOf: Map<string, Set<string>>;
  readonly draft: Draft;
}

function addTarget(probed: ProbeTarget, { modules, alerts, routing, severitiesOf, draft }: BlackboxConversion): void {
  const { place, labels, everyMs, limitMs } = probed;
  const job = labels.get('job') ?? '';
  const title = `${job} ${labels.get('instance') ?? probed.target}`;
  const path = ['modules', probed.module];
  const read = Module.safeParse(find(modules, path)?.value);
  if (!read.success)
    return draft.note('left out', place, `${title}: there is no module ${probed.module} that can be read`);
  const notes = new Set(draft.notes.map(({ text }) => text));
  const made = checkOfModule(read.data, probed.target, limitMs, everyMs, (kind, text) => {
    const about = `module ${probed.module}: ${text}`;
    if (!notes.has(about)) draft.note(kind, placeAt(modules, path), about);
  });
  if (isSkipped(made)) return draft.note('left out', place, `${title}: ${made.leftOut}`);

  const own = alerts.filter((alert) => selects(alert, probed, made));
  const notify = new Set<string>();
  for (const { labels: more, severity } of own) {
    for (const name of routing.receivers(new Map([...labels, ...Object.entries(more)]))) {
      notify.add(name);
      severitiesOf.set(name, (severitiesOf.get(name) ?? new Set()).add(severity));
    }
  }
  const rules = own.map((alert) => draft.rule(slug(alert.name), alert.rule(everyMs)));
  const shown = [...labels].filter(([name]) => !name.startsWith('__') && name !== 'instance');
  draft.target({
    place,
    title: title.replace(/\bhttps?:\/\//, ''),
    origin: null,
    keys: {
      ...made,
      every: durationWithin(everyMs, 1_000, 2_592_000_000),
      rules: alerts.length === 0 ? undefined : [...new Set(rules)],
      notify: notify.size === 0 ? undefined : [...notify],
      labels: labelsOf(shown),
    },
  });
}

const slug = (text: string) =>
  text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^[-_]+|-+$/g, '')
    .slice(0, 50) || 'alert';
