import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failed, failure, type Outcome } from '#checks/index.ts';
import type { Clock } from '#kernel/clock.ts';
import { createLog, type Log } from '#kernel/log.ts';
import type { Delivery } from '#monitor/judge/delivery.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { RoundRecord } from '#monitor/judge/round-record.ts';
import { newRuleState, type RuleState } from '#monitor/judge/rule-state.ts';
import { failing } from '#monitor/judge/rules/failing.ts';
import type { Vote } from '#monitor/judge/vote.ts';
import { openStore, type Store, type StoreOptions } from '#store/sqlite.ts';

export const quiet: Log = createLog({ level: 'silent', pretty: false, fd: 2 });

export interface TempFolder extends Disposable {
  readonly path: string;
}

export function tempFolder(): TempFolder {
  const path = mkdtempSync(join(tmpdir(), 'watchpost-store-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

export function openAt(path: string, clock: Clock, more: Partial<StoreOptions> = {}): Store {
  return openStore({ path, clock, log: quiet, pid: process.pid, ...more });
}

/** Copies what a process leaves of its database that is killed at this moment: nothing of what it has in memory. */
export function leaveBehind(path: string, copy: string): void {
  for (const end of ['', '-wal']) if (existsSync(path + end)) copyFileSync(path + end, copy + end);
}

export const start = Date.parse('2026-01-01T00:00:00Z');

function node(name: string): Vote['node'] {
  return {
    name,
    countryCode: name.slice(0, 2),
    country: 'Germany',
    city: 'Nuremberg',
    asn: 'AS64500',
    ip: '192.0.2.1',
  };
}

export function up(seconds = 0.012345): Outcome {
  return { status: 'up', seconds, address: '192.0.2.80', phases: {}, facts: {}, detail: null };
}

export function down(message = 'connection refused'): Outcome {
  return failed(failure('target', 'refused', message), { seconds: 0.0005, address: '192.0.2.80' });
}

/** No answer from the node. */
export function unanswered(): Outcome {
  return failed(failure('node', 'no_answer', 'the node did not answer'));
}

export function vote(name = 'de1', outcome: Outcome = up()): Vote {
  return { node: node(name), outcome };
}

export function round(target: string, dueAt: number, more: Partial<RoundRecord> = {}): RoundRecord {
  return { target, dueAt, votes: [vote()], states: [], incidents: [], deliveries: [], ...more };
}

/** A round of a target that is checked every half minute and is up. */
export function healthy(target: string, dueAt: number, more: Partial<RoundRecord> = {}): RoundRecord {
  return round(target, dueAt, { verdict: { status: 'up', inMaintenance: false, holdsMs: 60_000 }, ...more });
}

export function incident(target: string, openedAt: number, more: Partial<Incident> = {}): Incident {
  return {
    id: `${target}/down/${openedAt}`,
    target,
    rule: 'down',
    severity: 'critical',
    subject: `tcp ${target}.example.com:443`,
    condition: 'majority of the nodes for 2 rounds',
    startedAt: openedAt - 30_000,
    openedAt,
    endedAt: null,
    cause: 'connection refused',
    votes: [
      {
        node: 'de1',
        place: 'Nuremberg, Germany',
        status: 'down',
        seconds: 0.0005,
        address: '192.0.2.80',
        source: 'target',
        code: 'refused',
        message: 'connection refused',
      },
    ],
    closingVotes: null,
    closing: null,
    wording: failing.wording,
    timeline: [],
    held: null,
    notified: [{ channel: 'email', recipient: 'ops@example.com' }],
    lateReason: null,
    laterCauses: [],
    labels: {},
    acknowledged: null,
    ...more,
  };
}

export function delivery(of: Incident, more: Partial<Delivery> = {}): Delivery {
  return {
    id: 0,
    incidentId: of.id,
    kind: 'opened',
    number: 1,
    channel: 'email',
    recipient: 'ops@example.com',
    createdAt: of.openedAt,
    nextAttemptAt: of.openedAt,
    attempts: 0,
    lastError: null,
    ...more,
  };
}

export function state(target: string, more: Partial<RuleState> = {}): RuleState {
  return { ...newRuleState(target, 'down'), ...more };
}

/** A round that opens an incident and makes a delivery for each recipient. */
export function opening(
  target: string,
  dueAt: number,
  recipients: readonly string[] = ['ops@example.com'],
): RoundRecord {
  const opened = incident(target, dueAt);
  return round(target, dueAt, {
    votes: [vote('de1', down())],
    states: [state(target, { incidentId: opened.id })],
    incidents: [opened],
    deliveries: recipients.map((recipient) => delivery(opened, { recipient })),
  });
}

/** The round that closes what `opening` opened. */
export function closing(target: string, openedAt: number, dueAt: number): RoundRecord {
  const closed = incident(target, openedAt, { endedAt: dueAt, closingVotes: [] });
  return round(target, dueAt, {
    states: [state(target)],
    incidents: [closed],
    deliveries: [delivery(closed, { kind: 'resolved', createdAt: dueAt, nextAttemptAt: dueAt })],
  });
}
