import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { RoundRecord } from './judge/round-record.ts';
import type { MonitorStore } from './store.ts';

export interface RecorderPorts {
  readonly store: Pick<MonitorStore, 'record' | 'flush'>;
  readonly clock: Clock;
  readonly log: Log;
  /** Called with what was committed. */
  readonly onRecorded: (record: RoundRecord) => void;
  /** Called with the consequences of a round that could not be stored for seconds, or at all: notifications go out nevertheless. */
  readonly onUnstored: (record: RoundRecord) => void;
  /** Called after deliveries were committed, or are sent unstored. */
  readonly wakeOutbox: () => void;
}

/** Stores what rounds leave behind, and says what became of incidents. */
export interface Recorder {
  /**
   * Resolves to whether the record is committed: once it is, or is refused, or notifications go out without; if a caller waits, within
   * seconds. Never rejects.
   */
  keep(record: RoundRecord): Promise<boolean>;
  /** The same, without a caller that waits. */
  note(record: RoundRecord): void;
  /** Has all of it committed, without waiting for more, and resolves when nothing is on its way any more. */
  idle(): Promise<void>;
  /** Stops waiting for the store: rounds under way notify without being stored, and are not awaited. */
  giveUp(): void;
}

interface WaitingRound extends Disposable {
  /** Resolves when it is committed or refused, to whether it is. */
  readonly writing: Promise<boolean>;
  /** Notifies without the store. */
  readonly notify: () => void;
  /** Does so after this time, unless it is disposed of before. */
  await(ms: number): void;
}

// Another program may lock the database for a moment.
const patienceMs = 5_000;

export function createRecorder(ports: RecorderPorts): Recorder {
  const { store, clock, log, onRecorded, onUnstored, wakeOutbox } = ports;
  const onTheWay = new Set<WaitingRound>();
  let noted = 0;
  const waiting: (() => void)[] = [];
  let refusal = '';
  let isGivenUp = false;

  async function write(record: RoundRecord, notify: () => void): Promise<boolean> {
    try {
      stored(record, await store.record(record));
      return true;
    } catch (error) {
      refused(record, error);
      notify();
      return false;
    }
  }

  // Nearly every round goes this way.
  async function writeNoted(record: RoundRecord): Promise<void> {
    noted += 1;
    try {
      stored(record, await store.record(record));
    } catch (error) {
      refused(record, error);
    }
    noted -= 1;
    if (noted === 0) for (const wake of waiting.splice(0)) wake();
  }

  function stored(record: RoundRecord, how: 'stored' | 'duplicate'): void {
    const { target, dueAt, incidents, deliveries } = record;
    if (how === 'duplicate') log.warn({ target, dueAt }, 'results are stored already');
    refusal = '';
    if (incidents.length > 0) logIncidents(record, log);
    onRecorded(record);
    if (deliveries.length > 0) wakeOutbox();
  }

  function refused({ target, dueAt }: RoundRecord, error: unknown): void {
    // While a disk is full this is so for every round of every target.
    if (refusal !== messageOf(error)) log.error({ err: error, target, dueAt }, 'cannot store round');
    refusal = messageOf(error);
  }

  function start(record: RoundRecord, resolve: (isStored: boolean) => void): WaitingRound {
    let isNotified = record.incidents.length === 0;
    const notify = () => {
      resolve(false);
      if (isNotified) return;
      isNotified = true;
      log.warn(
        { target: record.target, dueAt: record.dueAt },
        'store unavailable: notifying without saving this round',
      );
      onUnstored(record);
      wakeOutbox();
    };
    let timer: Disposable | null = null;
    return {
      writing: write(record, notify),
      notify,
      await(ms) {
        if (ms === 0) notify();
        else timer = clock.after(ms, notify);
      },
      [Symbol.dispose]: () => timer?.[Symbol.dispose](),
    };
  }

  async function keep(record: RoundRecord): Promise<boolean> {
    if (isEmpty(record)) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const kept = start(record, resolve);
    onTheWay.add(kept);
    const isAwaited = record.incidents.length > 0 || record.heard !== undefined;
    if (isAwaited) kept.await(isGivenUp ? 0 : patienceMs);
    void kept.writing.then((isStored) => {
      kept[Symbol.dispose]();
      onTheWay.delete(kept);
      resolve(isStored);
    });
    return promise;
  }

  return {
    keep,
    note(record) {
      if (record.incidents.length > 0) void keep(record);
      else if (!isEmpty(record)) void writeNoted(record);
    },
    async idle() {
      store.flush();
      await Promise.all([...onTheWay].map(async ({ writing }) => writing));
      if (noted > 0) await new Promise<void>((resolve) => waiting.push(resolve));
    },
    giveUp() {
      isGivenUp = true;
      for (const kept of onTheWay) {
        kept[Symbol.dispose]();
        kept.notify();
      }
    },
  };
}

function isEmpty({ votes, verdict, heard, spec, states, incidents, deliveries }: RoundRecord): boolean {
  const count = votes.length + states.length + incidents.length + deliveries.length;
  return count === 0 && verdict === undefined && heard === undefined && spec === undefined;
}

function logIncidents({ dueAt, incidents, deliveries }: RoundRecord, log: Log): void {
  for (const { id, target, cause, openedAt, endedAt, closing, held } of incidents) {
    const about = { incident: id, target, cause };
    const isNotified = deliveries.some(({ incidentId }) => incidentId === id);
    if (endedAt !== null) log.info({ ...about, closing }, 'incident closed');
    else if (openedAt === dueAt) {
      if (held === null) log.warn(about, 'incident opened');
      else log.warn({ ...about, held: held.why }, 'incident opened, notification suppressed');
    } else if (held !== null) log.debug({ ...about, held: held.why }, 'incident changed, notification suppressed');
    else if (isNotified) log.warn(about, 'notifying of an incident that opened before');
  }
}
