import { z } from 'zod';
import { CheckSpec, EvidenceDocument, warmUpDocument } from '#checks/index.ts';
import type { CheckRunner } from '#compose/checking.ts';
import type { StartupState } from '#compose/startup-state.ts';
import type { Config } from '#config/config.ts';
import { evidenceInWords, type EvidenceStore } from '#history/evidence.ts';
import type { Clock } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { EvidenceGatherer, EvidenceSettings } from '#monitor/evidence/gatherer.ts';
import type { EvidenceCollector } from '#monitor/evidence/collector.ts';
import { createEvidenceCollector } from '#monitor/evidence/gathering.ts';
import type { SharedCauses } from '#monitor/evidence/shared-causes.ts';
import { isAboutUs, voteTable } from '#monitor/judge/incident.ts';
import type { EvidenceReader } from '#monitor/notify/evidence-lines.ts';
import type { Board } from '#web/state/board.ts';

// The part of compose.ts that is about evidence: nodes gather it as they run checks.

export interface EvidenceSurroundings {
  readonly upcoming: StartupState;
  readonly checking: Pick<CheckRunner, 'runs'>;
  readonly store: EvidenceStore;
  readonly sharedCauses: SharedCauses;
  readonly board: Pick<Board, 'incidentsChanged' | 'target'>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Starts to gather evidence of incidents, once the monitor tells of them. */
export function startEvidence({
  upcoming,
  checking,
  store,
  sharedCauses,
  board,
  clock,
  log,
}: EvidenceSurroundings): EvidenceCollector {
  warmUpDocument();
  return createEvidenceCollector({
    settings: createSettings(upcoming.inForce),
    gatherer: gathererOver(checking, upcoming.inForce),
    store,
    sharedCauses,
    openIncidents: () => upcoming.watching?.monitor.openIncidents() ?? [],
    seenNow: (target) => voteTable(board.target(target)?.votes.list() ?? []),
    onGathered: (incident) => board.incidentsChanged([incident]),
    clock,
    log,
  });
}

// Looked up for every round. Only the last one is kept: the configuration of the start stays as long as the program.
function createSettings(inForce: () => Config): () => EvidenceSettings {
  let last: { readonly config: Config; readonly settings: EvidenceSettings } | null = null;
  return () => {
    const config = inForce();
    if (last?.config !== config) last = { config, settings: settingsOf(config) };
    return last.settings;
  };
}

function settingsOf({ evidence, targets }: Config): EvidenceSettings {
  const { enabled, lastGood, without } = evidence;
  const left = new Set(without);
  const byName = new Map(targets.map((target) => [target.name, target]));
  return {
    isEnabled: (name) => enabled && !left.has(name),
    lastGood,
    targetOf: (name) => byName.get(name) ?? null,
  };
}

const isEnabledFor = (target: string, { evidence: { enabled, without } }: Pick<Config, 'evidence'>): boolean =>
  enabled && !without.includes(target);

/** Has nodes gather evidence as they run checks, beside the schedule. */
function gathererOver(
  checking: Pick<CheckRunner, 'runs'>,
  inForce: () => Pick<Config, 'evidence' | 'foreignService'>,
): EvidenceGatherer {
  const online = () => checking.runs?.nodes().filter((node) => node.online) ?? [];
  return {
    nodes: () =>
      inForce().foreignService === null && checking.runs !== null ? online().map(({ info }) => info.name) : null,
    async gather({ spec, node, failure, references }, signal) {
      const status = online().find(({ info }) => info.name === node);
      if (status === undefined || checking.runs === null) return { document: null, reason: 'the node is not online' };
      const of = z.encode(CheckSpec, spec);
      const { redact } = inForce().evidence;
      const asked = CheckSpec.parse({ type: 'evidence', host: spec.host, of, failure, redact, references });
      const command = { spec: asked, policy: 'private', origin: 'monitor' } as const;
      const [answer] = await checking.runs.runOn([status.info], command, signal, {});
      const outcome = answer?.outcome;
      const found = EvidenceDocument.safeParse(outcome?.detail ?? null);
      if (found.success) return { document: found.data };
      const reason = outcome === undefined || outcome.status === 'up' ? 'no evidence came' : outcome.failure.message;
      return { document: null, reason };
    },
  };
}

interface EvidenceReaderOptions {
  readonly store: Pick<EvidenceStore, 'evidenceOf'>;
  readonly sharedCauses: Pick<SharedCauses, 'sharedBy'>;
  readonly inForce: () => Config;
  readonly log: Log;
}

/**
 * What evidence says of an incident, for messages: its own, or else what targets that failed at the same time have in common. They go out without
 * it if it cannot be read.
 */
export function createEvidenceReader({ store, sharedCauses, inForce, log }: EvidenceReaderOptions): EvidenceReader {
  return (incident, isOneOfMany) => {
    const { id, target } = incident;
    try {
      const evidence = store.evidenceOf(id);
      const isExamined = evidence.some(({ document }) => document !== null);
      const own = isExamined || !isOneOfMany ? evidenceInWords(evidence) : [];
      if (isExamined || isAboutUs(target) || !isEnabledFor(target, inForce())) return own;
      const shared = sharedCauses.sharedBy(incident);
      return shared === null ? own : [shared];
    } catch (error) {
      log.warn({ incident: id, reason: messageOf(error) }, 'cannot read evidence; the message goes out without it');
      return [];
    }
  };
}
