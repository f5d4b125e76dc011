import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { LateVote, StoredSuccess } from '#monitor/judge/round-record.ts';
import type { MonitorStore } from '#monitor/store.ts';
import type { ChangeStore } from '#history/changes.ts';
import type { EvidenceStore } from '#history/evidence.ts';
import type { ExclusionStore } from '#history/exclusions.ts';
import type { MeasurementStore } from '#history/measurements.ts';
import type { HistorySource } from '#history/source.ts';
import type { ServiceStore } from '#service/ports.ts';
import type { DeviceStore } from '#subscriptions/device-store.ts';
import type { SubscriptionStore } from '#subscriptions/subscription-store.ts';
import { careOf, type StoreCare } from './care.ts';
import { readChanges, readNewestChanges, writeChanges } from './changes.ts';
import { withCheckpoints } from './checkpoints.ts';
import { createCommit } from './commit.ts';
import { createDeviceStore } from './devices.ts';
import { createDeliveryStore } from './delivery-store.ts';
import { type BetterSQLite3Database, eq } from './drizzle.ts';
import { storeError } from './errors.ts';
import { createEvidenceStore } from './evidence.ts';
import { createExclusionStore } from './exclusions.ts';
import { watchFiles } from './file-watch.ts';
import { lockPathOf } from './lock.ts';
import { createMeasurementStore } from './measurements.ts';
import { deleteNote, readNotes, type StoredNote, writeNote } from './notes.ts';
import { type OpenDatabase, openDatabase, type OpenOptions } from './open.ts';
import { CommitQueue } from './queue.ts';
import { readCheckedSpecs, readSuccesses, readTargets, storedOf } from './read.ts';
import { createHistorySource } from './history.ts';
import { createRunStore } from './runs.ts';
import type { StoredResult } from './rows.ts';
import { facts } from './schema.ts';
import { keptByDefault, type Retention } from './sealing/forget.ts';
import { type HistoryParts, openHistoryParts } from './sealing/parts.ts';
import { forgetPosition } from './shared-names.ts';
import type { createSharing, SharedStore, SharedWriting, SharingOptions } from './shared-store.ts';
import { readSilences, writeSilence } from './silences.ts';
import { readIncidentsBetween } from './incidents.ts';
import { createSubscriptionStore } from './subscriptions.ts';
import { createWriter, type Writer } from './write.ts';

export interface StoreOptions extends OpenOptions {
  readonly clock: Clock;
  /** How many rounds may wait in memory while the database refuses. */
  readonly queueLimit?: number;
  /** Called with the duration of each committed transaction, in seconds. */
  readonly onWritten?: (seconds: number) => void;
  /** How long history is kept. Default: results 90 days, hours two years, days and incidents for ever. */
  readonly retention?: Retention;
  /** If several hubs share the history: then all of it is written through their log. */
  readonly sharing?: SharingOptions & { readonly create: typeof createSharing };
}

/** The monitor's memory in one SQLite file, and what there is to know about the file. */
export interface Store
  extends
    MonitorStore,
    ChangeStore,
    MeasurementStore,
    EvidenceStore,
    ExclusionStore,
    SubscriptionStore,
    DeviceStore,
    StoreCare,
    AsyncDisposable {
  /** The check service's part of the same file. */
  readonly checks: ServiceStore;
  /** The incidents that were open for a part of the time from `from` until before `to`, as they are by now, the oldest first. */
  incidentsBetween(from: number, to: number): readonly Incident[];
  /** What people say on status pages, the oldest first. */
  notes(): readonly StoredNote[];
  addNote(note: StoredNote): void;
  /** Another number after incidents or notes were written. */
  newsVersion(): number;
  removeNote(id: string): void;
  /** What is kept under a name, such as the identity of this installation; made if there is nothing yet. */
  fact(name: string, make: () => string): string;
  setFact(name: string, value: string): void;
  /** The results of a target that were due at `since` (milliseconds since the epoch) or later, oldest first. */
  recentResults(target: string, since: number): readonly StoredResult[];
  /**
   * Stores a vote that came when its round was over, resolved once it is committed. It changes the history only, and there
   * nothing but a missing or an unknown vote; `revised` if its round has a verdict now that it did not have.
   */
  recordLate(late: LateVote): Promise<'stored' | 'revised' | 'duplicate'>;
  /** What there is of the past, for a reader; what has waited for a second is committed before it is read. */
  readonly history: HistorySource;
  /** Null unless several hubs share the history. */
  readonly shared: SharedStore | null;
  /** Writes what waits, then closes the file. Rejects with `store_failed` if rounds were lost. */
  close(): Promise<void>;
}

const defaultQueueLimit = 20_000;
// A reader in this process sees rounds that have waited for so long.
const readableAfterMs = 1_000;
const farFuture = Number.MAX_SAFE_INTEGER;

/** Opens or creates the database. Throws `store_unwritable`, `store_newer` or `store_corrupt` with the way out. */
export function openStore(options: StoreOptions): Store {
  const { clock, log, onWritten } = options;
  const file = withCheckpoints(openDatabase(options), options);
  const { path, raw, drizzle: database } = file;
  const files = watchFiles(
    { mustBe: [path, lockPathOf(path)], mayCome: [`${path}-wal`, `${path}-shm`] },
    { clock, log },
  );
  const parts = openHistoryParts(raw, options.retention ?? keptByDefault, clock);
  const { periods } = parts;
  const source = createHistorySource({ ...parts, database: raw, newest: () => periods.newest() });
  const writer = createWriter(file, parts);
  const sharing =
    options.sharing === undefined
      ? null
      : options.sharing.create({ ...options.sharing, file, writer, periods, clock, log, onWritten });
  if (sharing === null) forgetPosition(database);
  const commit = createCommit({ file, writer, periods, clock, log, onWritten });
  const queue =
    sharing?.queue ?? new CommitQueue({ clock, log, commit, limit: options.queueLimit ?? defaultQueueLimit });
  const commitWaiting = () => queue.flush(readableAfterMs);
  const history = committedBeforeReading(source, commitWaiting);
  const checks = createRunStore({ file, clock, log });
  const guard: Guard = (action) => {
    try {
      return action();
    } catch (error) {
      throw storeError(path, error);
    }
  };
  const deliveries = createDeliveryStore({ database, queue, sharing: sharing?.writing ?? null, clock, guard });
  let closed = false;

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    files[Symbol.dispose]();
    const lost = queue.close();
    try {
      if (lost === 0) guard(() => periods.flush());
      checks.close();
    } finally {
      file[Symbol.dispose]();
    }
    if (lost > 0) throw new WatchpostError('store_failed', `${path}: ${lost} rounds could not be written`);
  }

  return {
    checks,
    history,
    flush: () => queue.flush(),
    ...deliveries.store,
    shared: sharing?.store ?? null,
    ...memoryOf({ database, file, writer, parts, history, commitWaiting, guard }, sharing?.writing ?? null),
    ...createSubscriptionStore({ file, guard, sharing: sharing?.writing ?? null }),
    newsVersion: () => writer.newsVersion(),
    ...createDeviceStore({ file, guard, sharing: sharing?.writing ?? null }),
    ...createEvidenceStore({ file, guard, sharing: sharing?.writing ?? null }),
    ...createExclusionStore({ file, guard, sharing: sharing?.writing ?? null }),
    ...createMeasurementStore({ file, guard, sharing: sharing?.writing ?? null }),
    ...careOf({ file, parts, queue, files, guard }),
    incidentsBetween: (from, to) => guard(() => readIncidentsBetween(database, from, to)),
    recentResults: (target, since) =>
      guard(() => history.results(target, null, { from: since, to: farFuture }).map(storedOf)),

    async record(round) {
      const result = await queue.add(round);
      deliveries.note(round.deliveries);
      return result === 'duplicate' ? 'duplicate' : 'stored';
    },

    async recordLate(late) {
      const result = await queue.addLate(late);
      return result === 'settled' ? 'stored' : result;
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}

// What reads rounds that may wait. Incidents never do.
function committedBeforeReading(source: HistorySource, commitWaiting: () => void): HistorySource {
  const committed = (): HistorySource => {
    commitWaiting();
    return source;
  };
  return {
    ...source,
    nodes: () => committed().nodes(),
    results: (...query) => committed().results(...query),
    rounds: (...query) => committed().rounds(...query),
    periods: (...query) => committed().periods(...query),
    judgedPeriods: (...query) => committed().judgedPeriods(...query),
    newestPeriods: () => committed().newestPeriods(),
    verdictsFrom: (target) => committed().verdictsFrom(target),
    lastVerdict: (target) => committed().lastVerdict(target),
  };
}

type Guard = <Result>(action: () => Result) => Result;

interface MemoryDependencies {
  readonly database: BetterSQLite3Database;
  readonly file: OpenDatabase;
  readonly writer: Pick<Writer, 'noteWritten'>;
  readonly parts: HistoryParts;
  readonly history: HistorySource;
  readonly commitWaiting: () => void;
  readonly guard: Guard;
}

/** What the monitor begins with, and what it keeps by a name. */
function memoryOf(
  { database, file, writer, parts: { marks }, history, commitWaiting, guard }: MemoryDependencies,
  sharing: SharedWriting | null,
) {
  function successesOf(target: string, from: number, to: number): readonly StoredSuccess[] {
    return history
      .results(target, null, { from, to })
      .flatMap(({ node, dueAt, status, durationUs }) =>
        status === 'up' && durationUs !== null ? [{ target, node, dueAt, seconds: durationUs / 1e6 }] : [],
      );
  }

  const valueOf = (name: string) =>
    database.select({ value: facts.value }).from(facts).where(eq(facts.name, name)).get()?.value;

  return {
    load: () => guard(() => readTargets(database)),
    checkedSpecs: (wanted) => guard(() => readCheckedSpecs(database, wanted)),
    recentSuccesses: (since, wanted) =>
      guard(() => {
        commitWaiting();
        const sealedUntil = marks.get('hours_until');
        const sealed =
          since < sealedUntil ? [...wanted].flatMap((target) => successesOf(target, since, sealedUntil)) : [];
        return [...sealed, ...readSuccesses(database, Math.max(since, sealedUntil), wanted)];
      }),
    periods: (since, wanted) =>
      guard(() =>
        [...wanted].map((target) => ({ target, periods: history.periods(target, { from: since, to: farFuture }) })),
      ),
    silences: (now) => guard(() => readSilences(database, now)),
    saveSilence: (silence) =>
      guard(() => {
        if (sharing !== null) return sharing.write({ kind: 'silence', silence });
        file.waitForDisk(true);
        writeSilence(database, silence);
      }),
    newestChanges: () => guard(() => readNewestChanges(database)),
    changesOf: (target) => guard(() => readChanges(database, target)),
    addChanges: (all) =>
      guard(() => (sharing === null ? writeChanges(database, all) : sharing.write({ kind: 'changes', changes: all }))),
    notes: () => guard(() => readNotes(database)),
    addNote: (note) =>
      guard(() => {
        if (sharing !== null) return sharing.write({ kind: 'note', note });
        file.waitForDisk(true);
        writeNote(database, note);
        writer.noteWritten();
      }),
    removeNote: (id) =>
      guard(() => {
        if (sharing !== null) return sharing.write({ kind: 'note removed', id });
        file.waitForDisk(true);
        deleteNote(database, id);
      }),
    fact: (name, make) =>
      guard(() => {
        database
          .insert(facts)
          .values({ name, value: valueOf(name) ?? make() })
          .onConflictDoNothing()
          .run();
        return valueOf(name) ?? '';
      }),
    setFact: (name, value) =>
      guard(() => {
        file.waitForDisk(true);
        database.insert(facts).values({ name, value }).onConflictDoUpdate({ target: facts.name, set: { value } }).run();
      }),
  } satisfies Partial<Store>;
}
