import { loadAsNames } from '../../path/as-names.ts';
import type { EvidenceDocument } from '../detail.ts';
import { type GatherContext, PartUnavailableError } from './context.ts';

const maxHops = 30;
const queries = 3;
const waitMs = 1_500;

/** Traces the path by the protocol and port that failed; null if the target has none. */
export async function gatherPath(given: GatherContext): Promise<EvidenceDocument['path']> {
  const { plan, context, tools } = given;
  const { tracePath, environment } = tools;
  if (plan.path === null) return null;
  const pinned = await context.gate.pin(plan.name, { family: plan.family, signal: context.signal });
  if (!pinned.ok) throw new PartUnavailableError(pinned.failure.message);
  const { address, family } = pinned;
  const localAddress = environment.localAddress[family];
  const options = { address, family, ...plan.path, maxHops, queries, waitMs, localAddress };
  const traced = await tracePath(options, environment, context.signal);
  const { asnFile } = environment;
  return asnFile === undefined ? traced : (await loadAsNames(asnFile)).nameHops(traced);
}
