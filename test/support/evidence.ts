import { z } from 'zod';
import { conclude } from '#checks/evidence/conclusions.ts';
import { EvidenceDocument } from '#checks/evidence/detail.ts';
import type { GatherTools } from '#checks/evidence/gather/context.ts';
import { start } from '#checks/evidence/probe.ts';
import type { Spec } from '#checks/evidence/spec.ts';
import { CheckSpec, type FailureCode, type Gate } from '#checks/index.ts';
import { systemClock } from '#kernel/clock.ts';
import { literalGate } from './literal-gate.ts';
import { seededRandom } from './seeded-random.ts';

export interface GatherOptions {
  readonly failure?: FailureCode;
  readonly redact?: readonly string[];
  readonly references?: readonly { readonly name: string; readonly host: string }[];
  /** By default one that knows these names. */
  readonly gate?: Gate;
  readonly names?: Readonly<Record<string, string>>;
  readonly tools?: Partial<GatherTools>;
  readonly signal?: AbortSignal;
}

/** Gathers evidence about a target as a node does, by default without a name server of its own. */
export async function gatherEvidence(target: object, options: GatherOptions = {}): Promise<EvidenceDocument> {
  const { failure = null, redact = [], references = [], names = {}, tools = {}, gate = literalGate(names) } = options;
  const of = z.encode(CheckSpec, CheckSpec.parse(target));
  const encoded: unknown = JSON.parse(
    JSON.stringify({ type: 'evidence', host: of.host, of, failure, redact, references }),
  );
  // What a thread is given is copied. Sound because the parsed spec has that type.
  const spec = structuredClone(CheckSpec.parse(encoded)) as Spec; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const environment = { clock: systemClock, random: seededRandom(), localAddress: {} };
  const prober = await start(environment, { ownServers: () => [], rootServers: [], ...tools });
  try {
    const { signal = new AbortController().signal } = options;
    const outcome = await prober.probe(spec, { gate, signal });
    if (outcome.status !== 'up') throw new Error(outcome.failure.message);
    return EvidenceDocument.parse(outcome.detail);
  } finally {
    await prober.close();
  }
}

/** What is concluded from the document of one failing node. */
export function conclusionsFrom(
  document: EvidenceDocument,
  failure: FailureCode,
  lastGood: EvidenceDocument | null = null,
): readonly string[] {
  const evidence = [{ node: 'de1', isFailing: true, failure, document, lastGood }];
  return conclude(evidence, systemClock.now()).map(({ text }) => text);
}
