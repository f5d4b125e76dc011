import { readAtStart } from '#config/apply/reload.ts';
import type { Outline, OutlinedTarget } from '#config/apply/outline.ts';

/** A value that differs; null if it is not set. */
export interface Difference {
  readonly path: string;
  readonly from: string | null;
  readonly to: string | null;
}

/** An incident that is open now. */
export interface PlanIncident {
  readonly id: string;
  readonly target: string;
  readonly rule: string;
  readonly severity: string;
  /** Notifications that it began; null if that is not known. */
  readonly notified: readonly NotifiedRecipient[] | null;
  /** Whether its notification is suppressed for now. */
  readonly isHeld: boolean;
}

export interface NotifiedRecipient {
  readonly channel: string;
  readonly recipient: string;
}

/** Notifications that applying a configuration causes. */
export interface News {
  readonly incident: string;
  readonly news: 'is closed: its target is not watched any more' | 'goes on, and they were not notified';
  readonly to: readonly NotifiedRecipient[];
}

export interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly target: string; readonly differences: readonly Difference[] }[];
  readonly settings: readonly Difference[];
  /** Of these, the names of what takes effect after a restart only. */
  readonly needsRestart: readonly string[];
  readonly secrets: boolean;
  readonly news: readonly News[];
}

/** What comes of it if the second is put into force if the first is. */
export function changesBetween(now: Outline, then: Outline, open: readonly PlanIncident[]): Changes {
  const before = new Map(now.targets.map((target) => [target.name, target]));
  const after = new Map(then.targets.map((target) => [target.name, target]));
  const changed = then.targets.flatMap(({ name, says }) => {
    const was = before.get(name);
    const differences = was === undefined ? [] : differencesOf(was.says, says);
    return differences.length === 0 ? [] : [{ target: name, differences }];
  });
  const settings = differencesOf(now.says, then.says);
  return {
    added: then.targets.flatMap(({ name }) => (before.has(name) ? [] : [name])),
    removed: now.targets.flatMap(({ name }) => (after.has(name) ? [] : [name])),
    changed,
    settings,
    needsRestart: readAtStart.filter((name) =>
      settings.some(({ path }) => path === name || path.startsWith(`${name}.`)),
    ),
    secrets: now.secrets !== then.secrets,
    news: newsOf(open, after),
  };
}

/** The notifications about open incidents, once these targets are watched. */
export function newsOf(open: readonly PlanIncident[], after: ReadonlyMap<string, OutlinedTarget>): readonly News[] {
  return open.flatMap((incident): News[] => {
    const target = after.get(incident.target);
    const { id, notified, isHeld } = incident;
    const wanted = (target?.recipients ?? []).filter(({ severities }) =>
      severities.some((one) => one === incident.severity),
    );
    if (target === undefined || !target.rules.includes(incident.rule)) {
      return [{ incident: id, news: 'is closed: its target is not watched any more', to: notified ?? wanted }];
    }
    if (notified === null || isHeld) return [];
    const others = wanted.filter((one) => !notified.some((other) => isSameAddress(one, other)));
    const to = others.map(({ channel, recipient }) => ({ channel, recipient }));
    return to.length === 0 ? [] : [{ incident: id, news: 'goes on, and they were not notified', to }];
  });
}

const isSameAddress = (one: NotifiedRecipient, other: NotifiedRecipient) =>
  one.channel === other.channel && one.recipient === other.recipient;

type TextByName = Readonly<Record<string, string>>;

function differencesOf(before: TextByName, after: TextByName): readonly Difference[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].flatMap((path) => {
    const [from = null, to = null] = [before[path], after[path]];
    return from === to ? [] : [{ path, from, to }];
  });
}
