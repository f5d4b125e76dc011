import { open } from 'node:fs/promises';
import { WatchpostError } from '#kernel/errors.ts';
import { explainSystemError } from '#config/read/source.ts';
import { dayMs } from '#kernel/units.ts';
import { durationWithin } from '../convert.ts';
import { addDomains, domainOf, type DomainTarget } from '../domains.ts';
import { Draft, labelsOf, type PlainMap, isSkipped } from '../draft.ts';
import { readBackup } from './backup.ts';
import { readDatabase } from './database.ts';
import { socketOf, systemBus } from './engines.ts';
import { addMaintenance } from './maintenance.ts';
import { checkOfMonitor, timeoutOf } from './monitor.ts';
import { addNotifications, resendMs } from './notifications.ts';
import { resultsOf } from './results.ts';
import type { KumaData, KumaMonitor } from './schema.ts';
import { judgeOfMonitor } from './verdict.ts';

/** A draft of what Uptime Kuma watches by its database or its JSON backup, with its results. */
export async function importKuma(paths: readonly string[]): Promise<Draft> {
  const [path, ...others] = paths;
  if (path === undefined || others.length > 0)
    throw new WatchpostError('usage', 'one file is imported from Uptime Kuma');
  if (!(await isDatabase(path))) return draftOf(await readBackup(path));
  const data = readDatabase(path);
  return draftOf(data);
}

async function isDatabase(path: string): Promise<boolean> {
  try {
    await using file = await open(path);
    const { buffer } = await file.read(Buffer.alloc(15), 0, 15, 0);
    return buffer.toString('latin1') === 'SQLite format 3';
  } catch (error) {
    throw new WatchpostError('usage', `${path} cannot be read: ${explainSystemError(error)}`, { cause: error });
  }
}

function draftOf(data: KumaData): Draft {
  const draft = new Draft();
  const byId = new Map(data.monitors.map((monitor) => [monitor.id, monitor]));
  const recipientsOf = addNotifications(data, draft);
  const names = new Map<number, string>();
  const domains: DomainTarget[] = [];
  for (const monitor of data.monitors.toSorted((a, b) => a.id - b.id)) {
    const name = addMonitor(monitor, { data, byId, recipientsOf, draft, domains });
    if (name !== null) names.set(monitor.id, name);
  }
  addDomains(draft, domains, data.place);
  addMaintenance(data, names, draft);
  const url = data.settings.get('primaryBaseURL');
  const socket = socketOf(data.engines);
  const checks = new Set([...draft.targets.values()].map(({ keys }) => keys['check']));
  if (socket !== null && checks.has('docker')) draft.sections.set('docker_socket', socket);
  if (checks.has('systemd')) draft.sections.set('systemd_socket', systemBus);
  if (url !== undefined && /^https?:/.test(url)) draft.sections.set('http', { public_url: url });
  noteGeneralities(data, draft);
  if (data.beats !== null) {
    const { beats } = data;
    draft.history = () => resultsOf(beats());
    const days = Number(data.settings.get('keepDataPeriodDays') ?? 180);
    draft.sections.set('retention', { raw: `${days <= 0 ? 3_650 : Math.min(days, 3_650)}d` });
  }
  return draft;
}

interface KumaConversion {
  readonly data: KumaData;
  readonly byId: ReadonlyMap<number, KumaMonitor>;
  readonly recipientsOf: (monitor: KumaMonitor) => readonly string[];
  readonly draft: Draft;
  readonly domains: DomainTarget[];
}

function addMonitor(monitor: KumaMonitor, { data, byId, recipientsOf, draft, domains }: KumaConversion): string | null {
  const place = `${data.place} monitor ${monitor.id}`;
  const title = monitor.name ?? `monitor ${monitor.id}`;
  if (monitor.type === 'group') return null;
  const parents = parentsOf(monitor, byId);
  const leave = (why: string) => (draft.note('left out', place, `${title}: ${why}`), null);
  if (![monitor, ...parents].every(({ active }) => active)) return leave('it is paused');
  const made = checkOfMonitor(monitor, data, (kind, text) => draft.note(kind, place, `${title}: ${text}`));
  if (isSkipped(made)) return leave(made.leftOut);

  const everyMs = monitor.interval * 1_000;
  const notify = recipientsOf(monitor);
  if (notify.length === 0 && monitor.notifications.length > 0)
    draft.note('lost', place, `${title}: it has no recipients here: its notifications could not be converted`);
  if (resendMs(monitor) > 0 && notify.every((name) => JSON.stringify(draft.notify.get(name)?.['remind']) === '[]'))
    draft.note(
      'lost',
      place,
      `${title}: the repetition of its messages; remind under notify holds for all targets of a recipient`,
    );
  const domain = watchedDomain(monitor);
  if (domain !== null) domains.push({ place, title, domain, notify, ...endOfDomains(data, draft) });
  return draft.target({
    place,
    title,
    origin: monitor.id,
    judge: judgeOfMonitor(monitor),
    keys: {
      ...made,
      timeout: timeoutOf(monitor),
      every: durationWithin(everyMs, 1_000, 2_592_000_000),
      rules: rulesOf(monitor, made, data, draft),
      notify,
      labels: labelsOf([
        [
          'group',
          parents
            .map(({ name }) => name ?? '')
            .toReversed()
            .join(' / '),
        ],
        ...monitor.tags.map(({ name, value }) => [name, value ?? 'yes'] as const),
      ]),
    },
  });
}

function parentsOf({ parent }: KumaMonitor, byId: ReadonlyMap<number, KumaMonitor>): readonly KumaMonitor[] {
  const parents: KumaMonitor[] = [];
  let next = byId.get(parent ?? -1);
  while (next !== undefined && !parents.includes(next)) {
    parents.push(next);
    next = byId.get(next.parent ?? -1);
  }
  return parents;
}

// Retries at a shorter pace are what making sure is for; at the usual pace they are rounds.
function rulesOf(monitor: KumaMonitor, made: PlainMap, { settings }: KumaData, draft: Draft): readonly string[] {
  const rounds = Math.min(monitor.maxretries + 1, 99);
  const confirm = rounds > 1 && monitor.retry_interval > 0 && monitor.retry_interval < monitor.interval;
  const name = `down-${rounds}${confirm ? '-soon' : ''}`;
  const rule = draft.rule(name, { failing: 'majority', rounds, recover: 1, confirm });
  const isSecure = made['check'] === 'http' && String(monitor.url).startsWith('https:');
  if (!monitor.expiry_notification || !isSecure) return [rule];
  const days = longestDays(settings.get('tlsExpiryNotifyDays'));
  return [rule, draft.rule('certificate', { certificate: { expires_within: `${days}d` } })];
}

const longestDays = (list = '21') => Math.min(Math.max(...(list.match(/\d+/g) ?? ['1']).map(Number), 1), 365);

const hostTypes: readonly (string | undefined)[] = ['port', 'ping', 'dns', 'smtp', 'mqtt'];
const urlTypes: readonly (string | undefined)[] = [
  'http',
  'keyword',
  'json-query',
  'real-browser',
  'websocket-upgrade',
];

// Kuma skips what is no domain as well.
function watchedDomain({
  domain_expiry_notification: isWatched,
  type,
  url = '',
  hostname = '',
}: KumaMonitor): string | null {
  if (!isWatched) return null;
  return domainOf(urlTypes.includes(type) ? url : hostTypes.includes(type) ? hostname : '');
}

function endOfDomains({ settings }: KumaData, draft: Draft): Pick<DomainTarget, 'withinMs' | 'rule'> {
  const rule = draft.rule('down-1', { failing: 'majority', rounds: 1, recover: 1, confirm: false });
  return { withinMs: longestDays(settings.get('domainExpiryNotifyDays')) * dayMs, rule };
}

const words: Readonly<Record<string, string>> = {
  status_page: 'status pages',
  incident: 'announcements',
  api_key: 'API keys',
};

function noteGeneralities(data: KumaData, draft: Draft): void {
  const { place } = data;
  for (const [table, count] of data.others)
    if (count > 0) draft.note('lost', place, `${words[table] ?? table}: ${count}`);
  const groups = data.monitors.filter(({ type }) => type === 'group').length;
  const checks = [...draft.targets.values()].map(({ keys }) => keys);
  const say = (holds: boolean, text: string) =>
    holds ? draft.note('differs', place, `everywhere: ${text}`) : undefined;
  say(groups > 0, `groups are a label of their members, and not up or down themselves (${groups})`);
  say(
    checks.some(({ redirects }) => redirects !== undefined),
    'five redirects are followed at most',
  );
  say(
    [...draft.rules.keys()].some((name) => name.endsWith('-soon')),
    'retries come after 5s each, not after the retry interval',
  );
  say(
    draft.rules.has('certificate'),
    'the expiry of a certificate is notified once, with reminders, not three times by days',
  );
  say(
    checks.some(({ check }) => check === 'domain'),
    'the expiry of a domain is notified once, with reminders, not three times by days',
  );
  say(draft.notify.size > 0, 'what begins within 30s shares a message');
  say(
    checks.some(({ expect }) => JSON.stringify(expect ?? '').includes('contains')),
    'a keyword is searched in the body as sent, not in reformatted JSON',
  );
}
