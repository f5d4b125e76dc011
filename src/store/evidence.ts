import { Buffer } from 'node:buffer';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type Database from 'better-sqlite3';
import { z } from 'zod';
import { EvidenceDocument, FailureCode } from '#checks/index.ts';
import { evidenceOccasions, type EvidenceStore, type GatheredEvidence, type GoodEvidence } from '#history/evidence.ts';
import { parseJson } from '#kernel/json.ts';
import { dayMs } from '#kernel/units.ts';
import { and, type BetterSQLite3Database, eq, lt } from './drizzle.ts';
import type { OpenDatabase } from './open.ts';
import { evidence, goodEvidence } from './schema.ts';

/** A row as every hub writes it; `content` in base64. */
export interface PackedEvidence {
  readonly incident: string;
  readonly at: number;
  readonly occasion: string;
  readonly node: string;
  readonly content: string;
}

const longestRow = 65_536;
const longestIncident = 1_048_576;
// More than this is no document of ours.
const longestJson = 1_048_576;
const goodKeptMs = 30 * dayMs;

const Good = z.object({ at: z.number(), document: EvidenceDocument });
const Content = z.object({
  isFailing: z.boolean(),
  failure: FailureCode.nullable(),
  document: EvidenceDocument.nullable(),
  lastGood: Good.nullable(),
  note: z.string().nullable(),
});
type Content = z.output<typeof Content>;
const Occasion = z.enum(evidenceOccasions);

interface EvidenceStoreDependencies {
  readonly file: Pick<OpenDatabase, 'raw' | 'drizzle' | 'waitForDisk'>;
  readonly guard: <Result>(action: () => Result) => Result;
  /** Null unless several hubs share the history. */
  readonly sharing: { write(write: { kind: 'evidence'; evidence: PackedEvidence }): void } | null;
}

/** The evidence of incidents, and of times when all was well. The latter stays on this hub if several share the history. */
export function createEvidenceStore({ file, guard, sharing }: EvidenceStoreDependencies): EvidenceStore {
  const { raw, drizzle: database, waitForDisk } = file;
  const isOf = (target: string, node: string) => and(eq(goodEvidence.target, target), eq(goodEvidence.node, node));
  return {
    evidenceOf: (incident) => guard(() => readEvidence(raw, incident)),
    addEvidence: (incident, all) =>
      guard(() => {
        const rows = all.map((one) => packed(incident, one));
        if (sharing !== null) {
          for (const row of rows) sharing.write({ kind: 'evidence', evidence: row });
          return;
        }
        // What nodes saw is lost with the power only: a storm of notes must not wait for the disk.
        waitForDisk(false);
        raw
          .transaction(() => {
            for (const row of rows) writePacked(database, row);
          })
          .immediate();
      }),
    goodEvidence: (target, node) =>
      guard(() => {
        const row = database.select().from(goodEvidence).where(isOf(target, node)).get();
        const good = Good.safeParse(row === undefined ? null : unpacked(row.content));
        return good.success ? good.data : null;
      }),
    goodEvidenceTimes: () =>
      guard(() =>
        database
          .select({ target: goodEvidence.target, node: goodEvidence.node, at: goodEvidence.gatheredAt })
          .from(goodEvidence)
          .all(),
      ),
    saveGoodEvidence: (target, node, good: GoodEvidence) =>
      guard(() => {
        const row = { gatheredAt: good.at, content: deflated(good) };
        if (row.content.length > longestRow) return;
        waitForDisk(false);
        database
          .insert(goodEvidence)
          .values({ target, node, ...row })
          .onConflictDoUpdate({ target: [goodEvidence.target, goodEvidence.node], set: row })
          .run();
        database
          .delete(goodEvidence)
          .where(lt(goodEvidence.gatheredAt, good.at - goodKeptMs))
          .run();
      }),
  };
}

/** What was gathered for an incident, the oldest first. */
export function readEvidence(raw: Database.Database, incident: string): readonly GatheredEvidence[] {
  const rows = raw
    .prepare<[string], { at: number; occasion: string; node: string; content: Buffer }>(
      'SELECT gathered_at AS at, occasion, node, content FROM evidence WHERE incident_id = ? ORDER BY gathered_at, id',
    )
    .all(incident);
  return rows.map(({ at, occasion, node, content }) => {
    const read = Content.safeParse(unpacked(content));
    return { at, occasion: Occasion.parse(occasion), node, ...(read.success ? read.data : unreadable) };
  });
}

const unreadable: Content = {
  isFailing: false,
  failure: null,
  document: null,
  lastGood: null,
  note: 'written by another version of Watchpost, which this one cannot read',
};

/** Writes a row, unless it is there, and makes room for it in its incident, inside the transaction of its caller. */
export function writePacked(
  database: BetterSQLite3Database,
  { incident, at, occasion, node, content }: PackedEvidence,
): void {
  const row = { incidentId: incident, gatheredAt: at, occasion, node, content: Buffer.from(content, 'base64') };
  database.insert(evidence).values(row).onConflictDoNothing().run();
  const stored = database
    .select({ id: evidence.id, at: evidence.gatheredAt, content: evidence.content })
    .from(evidence)
    .where(eq(evidence.incidentId, incident))
    .orderBy(evidence.gatheredAt, evidence.id)
    .all();
  let bytes = stored.reduce((sum, one) => sum + one.content.length, 0);
  for (const one of stored) {
    if (bytes <= longestIncident) return;
    if (one.at === stored[0]?.at) continue;
    database.delete(evidence).where(eq(evidence.id, one.id)).run();
    bytes -= one.content.length;
  }
}

function packed(incident: string, { at, occasion, node, ...content }: GatheredEvidence): PackedEvidence {
  const tooLong = 'was longer than 64 KiB';
  const forms = [
    content,
    { ...content, lastGood: null },
    { ...content, lastGood: null, document: null, note: tooLong },
  ];
  // Compressing takes about a millisecond: the next form only if the one before is too long.
  for (const form of forms) {
    const fitting = deflated(form);
    if (fitting.length <= longestRow) return { incident, at, occasion, node, content: fitting.toString('base64') };
  }
  throw new RangeError('evidence without a document is longer than 64 KiB');
}

const deflated = (value: object) => deflateRawSync(JSON.stringify(value));

function unpacked(content: Buffer): unknown {
  return parseJson(inflateRawSync(content, { maxOutputLength: longestJson }).toString());
}
