import { query } from '../support/program.ts';
import type { ReceivedMail } from '../support/smtp.ts';

export interface Judgement {
  readonly counts: Readonly<Record<string, number>>;
  /** What went wrong, in words; empty where nothing did. */
  readonly faults: readonly string[];
}

interface Told {
  readonly incident: string;
  readonly kind: string;
  readonly state: string;
  readonly message: string | null;
}

/** Compares what the database says with what the mail server took. */
export function judge(database: string, received: readonly ReceivedMail[]): Judgement {
  const faults: string[] = [];
  const must = (holds: boolean, otherwise: string) => {
    if (!holds) faults.push(otherwise);
  };
  const integrity = query(database, 'PRAGMA integrity_check').map((row) => String(row['integrity_check']));
  must(integrity.join() === 'ok', `the database is damaged: ${integrity.join('; ')}`);
  must(query(database, 'PRAGMA foreign_key_check').length === 0, 'the database has rows that point at nothing');

  const incidents = query(
    database,
    'SELECT id, ended_at AS ended FROM incidents ORDER BY started_at',
  ) as unknown as readonly { readonly id: string; readonly ended: number | null }[];
  const rows = query(
    database,
    'SELECT incident_id AS incident, kind, state, message FROM deliveries ORDER BY id',
  ) as unknown as readonly Told[];
  const firstAt = new Map<string, number>();
  const times = new Map<string, number>();
  for (const [index, { mail }] of received.entries()) {
    const id = idOf(mail.messageId);
    if (!firstAt.has(id)) firstAt.set(id, index);
    times.set(id, (times.get(id) ?? 0) + 1);
  }

  let transitions = 0;
  for (const { id, ended } of incidents) {
    const of = (kind: string) => rows.filter((row) => row.incident === id && row.kind === kind);
    for (const kind of ended === null ? ['opened'] : ['opened', 'resolved']) {
      transitions += 1;
      const own = of(kind);
      must(own.length === 1, `${id}: ${own.length} deliveries say that it was ${kind}`);
      for (const { state, message } of own) {
        must(state === 'sent' || state === 'merged', `${id}: ${kind} is ${state}`);
        must(message !== null && firstAt.has(message), `${id}: no mail says that it was ${kind} (${message})`);
      }
    }
    const [down, up] = [of('opened')[0]?.message, of('resolved')[0]?.message].map((one) => firstAt.get(one ?? ''));
    must(down === undefined || up === undefined || down <= up, `${id}: its end was told before its beginning`);
  }

  // A mail that no delivery goes by was accepted, and then its content was told again under another name.
  const named = new Set(rows.map(({ message }) => message));
  for (const id of firstAt.keys()) must(named.has(id), `the mail ${id} was accepted, and no delivery knows of it`);

  faults.push(...unseen(database, incidents.length));
  const merged = rows.filter(({ state }) => state === 'merged').length;
  return {
    counts: {
      incidents: incidents.length,
      transitions,
      mails: received.length,
      'different mails': firstAt.size,
      'repeats with an equal Message-ID': received.length - times.size,
      'told by another mail': merged,
    },
    faults,
  };
}

/** Every change from one stored round to the next is an incident or the end of one: history and incidents tell the same. */
function unseen(database: string, incidents: number): readonly string[] {
  const rounds = query(
    database,
    'SELECT target_id AS target, status FROM results WHERE status < 2 ORDER BY target_id, due_at',
  );
  const last = new Map<unknown, unknown>();
  let opened = 0;
  for (const { target, status } of rounds) {
    if (status === 1 && last.get(target) !== 1) opened += 1;
    last.set(target, status);
  }
  return opened === incidents ? [] : [`the history shows ${opened} outages, and there are ${incidents} incidents`];
}

const idOf = (header: string | undefined) => /^<([^@>]*)@/.exec(header ?? '')?.[1] ?? '';
