import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Spool } from '#node/ports.ts';
import { readJson } from '#kernel/json.ts';
import { type CommandReply, decodeSpec, protocolRange, type Report } from '#protocol/nodes.ts';
import {
  type AssignMessage,
  type AssignedTarget,
  batchBeginning,
  RetainedResults,
  WireTarget,
} from '#protocol/watching.ts';
import type { Transport } from '#service/ports.ts';
import { createBatcher } from './batcher.ts';
import type { ReceiptDelivery } from './delivery.ts';

export interface RemoteSchedulerOptions {
  readonly name: string;
  readonly process: string;
  /** What runs the checks: the node of this name in this process. */
  readonly local: Pick<Transport, 'assign' | 'listen'> & {
    /** Tells it how far this clock is ahead of the hub's. */
    retime(aheadMs: number): void;
  };
  readonly spool: Pick<Spool, 'assignment' | 'keepAssignment'>;
  readonly delivery: Pick<ReceiptDelivery, 'add'>;
  /** The assignment has changed: the hub has to be informed. */
  readonly onChange: () => void;
  readonly random: Random;
  readonly log: Log;
}

/** What a process of a node watches by itself. */
export interface RemoteScheduler {
  /** Goes on with what was kept on disk. */
  resume(): void;
  /** Takes a part of an assignment; the whole comes into force with the last one, and is kept on disk. */
  take(part: AssignMessage): CommandReply;
  /** Its assignment, as reported to the hub; null for nothing. */
  readonly state: Report['watching'];
  /** How far this clock is ahead of the hub's now. */
  measured(aheadMs: number): void;
  /** The hub does not know of assignments, and asks for each check: nothing is watched any more. */
  giveUp(): void;
  /** The hub takes this share of healthy results from now on. */
  granted(share: number): void;
  /** How many healthy results the hub did not grant since the start. */
  readonly notGranted: number;
  /** Nothing is begun any more; what is watched is kept for the next start. */
  stop(): void;
}

// A clock that drifts by less is right as it is.
const driftMs = 10;
// What a target that cannot be read is watched as: it is never checked.
function neverChecked(): AssignedTarget['spec'] {
  const spec = decodeSpec({ type: 'tcp', host: 'unread.invalid:1' });
  if (typeof spec === 'string') throw new TypeError(spec);
  return spec;
}

/**
 * Watches what the hub assigned, goes on with it without the hub and over restarts, and hands what was seen to the delivery, which
 * keeps it until the hub has.
 */
export function watchRemotely(options: RemoteSchedulerOptions): RemoteScheduler {
  const { name, process, local, spool, onChange, log } = options;
  let parts: AssignMessage[] = [];
  let current: RetainedResults | null = null;
  // Those of the assignment before as well: what was seen by it may still be on its way.
  let types: readonly ReadonlyMap<string, string>[] = [];
  const batcher = createBatcher(options);
  let state: Report['watching'] = null;
  let aheadMs = 0;

  const reply = (outcome: CommandReply['state'], reason: string | null = null): CommandReply => {
    return { protocol: [...protocolRange], process, state: outcome, reason };
  };

  const typeOf = (target: string) => types.find((one) => one.has(target))?.get(target) ?? '';

  local.listen({
    watching(_, number, since) {
      const isGone = current === null || since === Number.POSITIVE_INFINITY;
      const { epoch = '', targets = [] } = current ?? {};
      state = isGone ? null : { epoch, number, targets: targets.length, since, takesChanges: true };
      onChange();
    },
    seen(_, observations, __, isNews = false) {
      const typed = observations.map((one) => ({ ...one, type: typeOf(one.target) }));
      batcher.hand(typed, isNews);
    },
    passedOver: (_, passed) => batcher.passedOver(passed),
  });

  function begin(kept: RetainedResults): void {
    current = kept;
    const targets = kept.targets.map((written) => {
      const { spec: encoded, ...target } = WireTarget.parse(written);
      const spec = decodeSpec(encoded);
      if (typeof spec !== 'string') return { ...target, spec };
      log.warn({ target: target.name, reason: spec }, 'check type is not supported; update this node');
      return { ...target, spec: neverChecked(), unreadable: spec };
    });
    types = [new Map(targets.map((target) => [target.name, target.spec.type])), ...types.slice(0, 1)];
    local.assign(name, { number: kept.number, targets });
  }

  function keep(): void {
    if (current !== null) spool.keepAssignment(JSON.stringify({ ...current, aheadMs } satisfies RetainedResults));
  }

  return {
    resume() {
      const stored = readJson(RetainedResults, spool.assignment() ?? '');
      if (stored === null) return;
      ({ aheadMs } = stored);
      local.retime(aheadMs);
      begin(stored);
      log.info({ targets: stored.targets.length }, 'resuming the previous assignment');
    },
    take(part) {
      const { epoch, number, base } = part;
      const isOfSame = (one: AssignMessage) => one.epoch === epoch && one.number === number && one.base === base;
      parts = [...parts.filter((one) => isOfSame(one) && one.part.index !== part.part.index), part];
      if (parts.length < part.part.of) return reply('accepted');
      const all = parts.toSorted((a, b) => a.part.index - b.part.index);
      parts = [];
      const written = all.flatMap((one) => one.targets);
      if (!written.every((target) => WireTarget.safeParse(target).success))
        return reply('unsupported', 'this node cannot read the assignment');
      const isKnown = current?.epoch === epoch && current.number === base;
      if (base !== undefined && !isKnown) return reply('unsupported', 'this node does not watch what this changes');
      const targets = base === undefined ? written : changed(current?.targets ?? [], written, all);
      begin({ epoch, number, aheadMs, targets });
      keep();
      return reply('accepted');
    },
    get state() {
      return state;
    },
    measured(ms) {
      if (Math.abs(ms - aheadMs) < driftMs) return;
      aheadMs = ms;
      local.retime(aheadMs);
      keep();
    },
    giveUp() {
      if (current === null) return;
      current = null;
      state = null;
      spool.keepAssignment('');
      local.assign(name, { number: 0, targets: [] });
    },
    granted: (share) => batcher.granted(share),
    get notGranted() {
      return batcher.skipped;
    },
    stop: () => local.assign(name, { number: 0, targets: [] }),
  };
}

// What was written before, with what is other now.
function changed(
  before: RetainedResults['targets'],
  written: RetainedResults['targets'],
  parts: readonly AssignMessage[],
): RetainedResults['targets'] {
  const targets = new Map(before.map((target) => [nameOf(target), target]));
  for (const { removed = [] } of parts) for (const name of removed) targets.delete(name);
  for (const target of written) targets.set(nameOf(target), target);
  return [...targets.values()];
}

const Named = WireTarget.pick({ name: true });
const nameOf = (written: unknown) => Named.parse(written).name;

/** Whether a payload of the spool is a batch: only a hub of version 3 can read one. */
export const isBatch = (payload: string) => payload.startsWith(batchBeginning);
