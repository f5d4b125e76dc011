import { Buffer } from 'node:buffer';
import {
  type MeasuredStep,
  type MeasuredSeries,
  type Measurement,
  type MeasurementStore,
  measuredStepMs,
} from '#history/measurements.ts';
import { packHour, pointsOf, unpackHour, withMeasurement } from '#history/measured-hour.ts';
import { hourMs } from '#kernel/units.ts';
import { and, type BetterSQLite3Database, eq, gte, lt } from './drizzle.ts';
import { measuredHours } from './history-tables.ts';
import type { OpenDatabase } from './open.ts';

interface MeasurementDependencies {
  readonly file: Pick<OpenDatabase, 'raw' | 'drizzle' | 'waitForDisk'>;
  readonly guard: <Result>(action: () => Result) => Result;
  /** Null unless several hubs share the history. */
  readonly sharing: { write(write: { kind: 'measured'; measured: readonly Measurement[] }): void } | null;
}

const mostInOneWrite = 200;

/** What checks measured under names of their own, a row for each hour of a target at a node. */
export function createMeasurementStore({ file, guard, sharing }: MeasurementDependencies): MeasurementStore {
  const { raw, drizzle: database, waitForDisk } = file;
  return {
    addMeasurements: (all) =>
      guard(() => {
        if (sharing !== null) {
          for (let at = 0; at < all.length; at += mostInOneWrite)
            sharing.write({ kind: 'measured', measured: all.slice(at, at + mostInOneWrite) });
          return;
        }
        // Values of the last seconds may be lost with the power; nothing is decided by them.
        waitForDisk(false);
        raw.transaction(() => writeMeasurements(database, all)).immediate();
      }),
    measured: (target, { from, to }) =>
      guard(() => {
        const first = Math.floor(from / hourMs);
        const isIn = and(
          eq(measuredHours.target, target),
          gte(measuredHours.hour, first),
          lt(measuredHours.hour, to / hourMs),
        );
        const rows = database.select().from(measuredHours).where(isIn).orderBy(measuredHours.hour).all();
        const series = new Map<string, MeasuredSeries & { points: readonly MeasuredStep[] }>();
        let omitted = 0;
        for (const { node, hour, content } of rows) {
          const read = unpackHour(content);
          omitted += read?.omitted ?? 0;
          for (const { steps, ...said } of read?.labels ?? []) {
            const points = pointsOf(steps, hour * hourMs).filter(({ at }) => at + measuredStepMs > from && at < to);
            const before = series.get(`${said.label}\n${node}`);
            const kept = before?.unit === said.unit ? before.points : [];
            series.set(`${said.label}\n${node}`, { ...said, node, points: [...kept, ...points] });
          }
        }
        const all = [...series.values()].filter(({ points }) => points.length > 0);
        return { series: all.toSorted(byLabel), omitted };
      }),
  };
}

const byLabel = (one: MeasuredSeries, other: MeasuredSeries) =>
  one.label.localeCompare(other.label, 'en') || one.node.localeCompare(other.node, 'en');

/** Adds values to their hours, inside the transaction of its caller. */
export function writeMeasurements(database: BetterSQLite3Database, all: readonly Measurement[]): void {
  const hourOf = ({ at }: Measurement) => Math.floor(at / hourMs);
  for (const group of Map.groupBy(all, (one) => `${one.target}\n${one.node}\n${hourOf(one)}`).values()) {
    const [first] = group;
    if (first === undefined) continue;
    const { target, node } = first;
    const hour = hourOf(first);
    const isIt = and(eq(measuredHours.target, target), eq(measuredHours.node, node), eq(measuredHours.hour, hour));
    const row = database.select({ content: measuredHours.content }).from(measuredHours).where(isIt).get();
    const before = row === undefined ? null : unpackHour(row.content);
    const after = group.reduce<typeof before>((known, one) => withMeasurement(known, one), before);
    if (after === null) continue;
    const content = Buffer.from(packHour(after));
    database
      .insert(measuredHours)
      .values({ target, node, hour, content })
      .onConflictDoUpdate({ target: [measuredHours.target, measuredHours.node, measuredHours.hour], set: { content } })
      .run();
  }
}
