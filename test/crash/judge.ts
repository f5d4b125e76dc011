import { findUnreported } from '#monitor/audit.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { ReceivedMail } from '../support/smtp.ts';

export interface Judgement {
  readonly counts: Readonly<Record<string, number>>;
  /** From what was seen to what was handed over, in milliseconds, the shortest first. */
  readonly lateMs: readonly number[];
  /** What went wrong, in words; empty where nothing did. */
  readonly faults: readonly string[];
}

export interface Evidence {
  /** Rows of a query on the database that is left. */
  readonly query: (sql: string) => readonly Record<string, unknown>[];
  readonly received: readonly ReceivedMail[];
  /** Whether each round was judged when it was over, in the order of its due time: then history and incidents show the same changes. */
  readonly isHistoryJudged: boolean;
  /** Whether mails were refused for good: news of what is over may then be given up. */
  readonly isRefused: boolean;
}

interface Told {
  readonly incident: string;
  readonly recipient: string;
  readonly kind: string;
  readonly state: string;
  readonly message: string | null;
  readonly seen: number;
  readonly settled: number | null;
}

/** Compares what the database says with what the mail server took. */
export function judge({ query, received, isHistoryJudged, isRefused }: Evidence): Judgement {
  const faults: string[] = [];
  const must = (holds: boolean, otherwise: string) => {
    if (!holds) faults.push(otherwise);
  };
  const integrity = query('PRAGMA integrity_check').map((row) => String(row['integrity_check']));
  must(integrity.join() === 'ok', `the database is damaged: ${integrity.join('; ')}`);
  must(query('PRAGMA foreign_key_check').length === 0, 'the database has rows that point at nothing');

  const incidents = query(
    `SELECT incidents.id, ended_at AS ended, story ->> '$.held' AS held FROM incidents JOIN targets ON targets.id = target_id
     WHERE targets.name NOT LIKE 'own %' ORDER BY started_at`,
  ) as unknown as readonly { readonly id: string; readonly ended: number | null; readonly held: string | null }[];
  const rows = query(
    'SELECT incident_id AS incident, recipient, kind, state, message, created_at AS seen, settled_at AS settled FROM deliveries ORDER BY id',
  ) as unknown as readonly Told[];
  const firstAt = new Map<string, number>();
  const times = new Map<string, number>();
  for (const [index, { mail }] of received.entries()) {
    const id = idOf(mail.messageId);
    if (!firstAt.has(id)) firstAt.set(id, index);
    times.set(id, (times.get(id) ?? 0) + 1);
  }

  let transitions = 0;
  let lost = 0;
  let suppressed = 0;
  let givenUp = 0;
  const ends = ['resolved', 'closed'];
  for (const { id, ended, held } of incidents) {
    const own = rows.filter((row) => row.incident === id);
    // What was over before a doubt was cleared is told to nobody.
    if (own.length === 0 && held !== null) suppressed += 1;
    else transitions += ended === null ? 1 : 2;
    must(own.length > 0 || held !== null, `${id}: nobody is to hear of it`);
    for (const [recipient, told] of Map.groupBy(own, (row) => row.recipient)) {
      const who = `${id} to ${recipient}`;
      const of = (kinds: readonly string[]) => told.filter(({ kind }) => kinds.includes(kind));
      for (const kinds of ended === null ? [['opened']] : [['opened'], ends]) {
        const [what] = kinds;
        must(of(kinds).length === 1, `${who}: ${of(kinds).length} deliveries say that it was ${what}`);
        for (const { state, message } of of(kinds)) {
          if (state === 'dead' && isRefused) {
            givenUp += 1;
            continue;
          }
          must(state === 'sent' || state === 'merged', `${who}: ${what} is ${state}`);
          // What an earlier mail may have told keeps its name, and the mail about the end tells of the beginning too.
          const inEnds = state === 'merged' ? of(ends).filter((one) => one.state === 'sent') : [];
          const isTold = [message, ...inEnds.map((one) => one.message)].some(
            (name) => name !== null && firstAt.has(name),
          );
          if (!isTold) lost += 1;
          must(isTold, `${who}: no mail says that it was ${what} (${message})`);
        }
      }
      const [down, up] = [of(['opened'])[0]?.message, of(ends)[0]?.message].map((one) => firstAt.get(one ?? ''));
      must(down === undefined || up === undefined || down <= up, `${who}: its end was told before its beginning`);
    }
  }

  // A mail that no delivery goes by was accepted, and then its content was told again under another name.
  const named = new Set(rows.map(({ message }) => message));
  const unknown = [...firstAt.keys()].filter((id) => !named.has(id));
  for (const id of unknown) must(false, `the mail ${id} was accepted, and no delivery knows of it`);

  faults.push(...unreportedIn(query));
  must(incidents.length > 0, 'nothing happened: this says nothing');
  if (isHistoryJudged) faults.push(...unseen(query, incidents.length));
  const merged = rows.filter(({ state }) => state === 'merged').length;
  return {
    counts: {
      outages: incidents.length,
      transitions,
      suppressed,
      mails: received.length,
      'different mails': firstAt.size,
      'repeats with an equal Message-ID': received.length - times.size,
      'story by another mail': merged,
      false: unknown.length,
      lost,
      'given up after a 5xx': givenUp,
    },
    lateMs: isHistoryJudged
      ? rows
          .flatMap(({ seen, settled, kind }) => (settled === null || kind === 'reminder' ? [] : [settled - seen]))
          .toSorted((a, b) => a - b)
      : [],
    faults,
  };
}

/** What the program's own audit would find in this database. */
function unreportedIn(query: Evidence['query']): readonly string[] {
  const rows = query(
    `SELECT id, opened_at AS openedAt, story,
       (SELECT count(*) FROM deliveries WHERE incident_id = incidents.id AND kind = 'opened') AS deliveries FROM incidents`,
  ) as unknown as readonly { id: string; openedAt: number; story: string; deliveries: number }[];
  const stored = rows.map(({ id, openedAt, story, deliveries }) => {
    const written = JSON.parse(story) as Pick<Incident, 'severity'> & Partial<Incident>;
    const incident = {
      ...written,
      acknowledged: written.acknowledged ?? null,
      held: written.held ?? null,
      notified: written.notified ?? null,
      openedAt,
    };
    return { id, incident, deliveries, unexplainedSince: incident.held === null ? null : openedAt };
  });
  return findUnreported(stored, { now: Date.now() });
}

/** Every change from one stored round to the next is an incident or the end of one: history and incidents tell the same. */
function unseen(query: Evidence['query'], incidents: number): readonly string[] {
  const rounds = query('SELECT target_id AS target, status FROM results WHERE status < 2 ORDER BY target_id, due_at');
  const last = new Map<unknown, unknown>();
  let opened = 0;
  for (const { target, status } of rounds) {
    if (status === 1 && last.get(target) !== 1) opened += 1;
    last.set(target, status);
  }
  return opened === incidents ? [] : [`the history shows ${opened} outages, and there are ${incidents} incidents`];
}

const idOf = (header: string | undefined) => /^<([^@>]*)@/.exec(header ?? '')?.[1] ?? '';
