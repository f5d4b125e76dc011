import type { Log } from '#kernel/log.ts';
import type { RoundRecord } from './judge/round-record.ts';
import type { MonitorStore } from './store.ts';

export interface RecorderPorts {
  readonly store: Pick<MonitorStore, 'record'>;
  readonly log: Log;
  /** Told of what was committed. */
  readonly onRecorded: (record: RoundRecord) => void;
  /** Called after deliveries were committed. */
  readonly wakeOutbox: () => void;
}

/** Stores what rounds leave behind, and says what became of incidents. */
export interface Recorder {
  /** Resolves once the record is committed or refused, to whether it is committed; never rejects. */
  keep(record: RoundRecord): Promise<boolean>;
  /** Resolves when nothing is on its way any more. */
  idle(): Promise<void>;
}

export function createRecorder({ store, log, onRecorded, wakeOutbox }: RecorderPorts): Recorder {
  const onTheWay = new Set<Promise<boolean>>();

  async function write(record: RoundRecord): Promise<boolean> {
    const { target, dueAt, votes, verdict, states, incidents, deliveries, heard } = record;
    const isEmpty = votes.length + states.length + incidents.length + deliveries.length === 0;
    if (isEmpty && verdict === undefined && heard === undefined) return true;
    try {
      if ((await store.record(record)) === 'duplicate') log.warn({ target, dueAt }, 'results were recorded before');
      logIncidents(record, log);
      onRecorded(record);
      if (deliveries.length > 0) wakeOutbox();
      return true;
    } catch (error) {
      log.error({ err: error, target, dueAt }, 'round could not be stored');
      return false;
    }
  }

  return {
    async keep(record) {
      const writing = write(record);
      onTheWay.add(writing);
      const isKept = await writing;
      onTheWay.delete(writing);
      return isKept;
    },
    async idle() {
      await Promise.all(onTheWay);
    },
  };
}

function logIncidents({ dueAt, incidents, deliveries }: RoundRecord, log: Log): void {
  for (const { id, target, cause, openedAt, endedAt, closing, held } of incidents) {
    const about = { incident: id, target, cause };
    const isTold = deliveries.some(({ incidentId }) => incidentId === id);
    if (endedAt !== null) log.info({ ...about, closing }, 'incident closed');
    else if (held !== null) log.warn({ ...about, held: held.why }, 'incident open, held back');
    else if (openedAt === dueAt) log.warn(about, 'incident opened');
    else if (isTold) log.warn(about, 'incident is told now');
  }
}
