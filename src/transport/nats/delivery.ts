import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Spool } from '#node/ports.ts';
import type { ResultReceipt } from '#protocol/nodes.ts';

export interface DeliveryOptions {
  readonly spool: Spool;
  /** Sends a result; false if there is no connection. */
  readonly send: (payload: string) => boolean;
  /** Called once after each `resume` at which something waited, when nothing does any more. */
  readonly onAllSent?: () => void;
  readonly clock: Clock;
  readonly log: Log;
}

/** Brings results to the hub, and keeps each until the hub says that it is stored. */
export interface ReceiptDelivery {
  /**
   * Takes a new result: it is spooled, then sent before anything that waits. One that is not urgent waits in the spool if as many of
   * that kind as may be are under way: how many urgent ones have no receipt says nothing of what the hub can take.
   */
  add(id: string, payload: string, isUrgent?: boolean): void;
  /** Sends a result again whose command came again, if it is still here. */
  repeat(id: string): void;
  hear(receipt: ResultReceipt): void;
  /** There is no hub, or another one: nothing is sent until `resume`, and then everything that has no receipt again. */
  pause(): void;
  /** The hub does not keep up: nothing is sent until it is heard, or `resume`. What is under way waits for it. */
  hold(): void;
  /** There is a hub: what waits is sent, newest first. */
  resume(): void;
  /** What waits in the spool and is not under way. */
  readonly unsent: number;
  /** How many results the hub has refused since the start. */
  readonly refused: number;
  /** How many results the hub has skipped since the start because it was overloaded. */
  readonly skipped: number;
  close(): void;
}

// A receipt comes once the whole round is stored, which takes as long as its slowest check.
const receiptMs = 90_000;
// What a hub gathers first, for it was away, it stores only then.
const window = 1_024;
const lookEveryMs = 1_000;
// A hub that says "later" has too much to do.
const laterMs = 10_000;
const logEveryMs = 60_000;

export function createDelivery({ spool, send, onAllSent, clock, log }: DeliveryOptions): ReceiptDelivery {
  /** What was sent and has no receipt, with the time that it is sent again. */
  const underWay = new Map<string, number>();
  /** Those of them that were sent whether or not there was room for them. */
  const urgent = new Set<string>();
  /** What the hub wants later, with the time that it is sent again. */
  const postponed = new Map<string, number>();
  let state: 'open' | 'held' | 'paused' = 'paused';
  let isCatchingUp = false;
  let refused = 0;
  let skipped = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let timer = clock.after(lookEveryMs, look);

  const post = (id: string, payload: string, isUrgent: boolean): void => {
    if (state !== 'open' || !send(payload)) return;
    underWay.set(id, clock.elapsed() + receiptMs);
    if (isUrgent) urgent.add(id);
  };

  const room = () => window - (underWay.size - urgent.size);

  const endOne = (id: string): boolean => {
    urgent.delete(id);
    return underWay.delete(id);
  };

  function look(): void {
    for (const [id, until] of underWay) if (clock.elapsed() >= until) endOne(id);
    for (const [id, until] of postponed) if (clock.elapsed() >= until) postponed.delete(id);
    replay();
    timer = clock.after(lookEveryMs, look);
  }

  function replay(): void {
    const free = room();
    if (state !== 'open' || free <= 0 || spool.size <= underWay.size + postponed.size) return;
    const waiting = spool
      .newest(window + urgent.size + postponed.size)
      .filter((id) => !underWay.has(id) && !postponed.has(id));
    // The newest first, but in order: a later result of a target tells the hub that no earlier one comes.
    for (const id of waiting.slice(0, free).toReversed()) {
      const payload = spool.payload(id);
      if (payload !== null) post(id, payload, false);
    }
  }

  function sayAllSent(): void {
    if (!isCatchingUp || spool.size > underWay.size) return;
    isCatchingUp = false;
    onAllSent?.();
  }

  function resume(): void {
    if (state === 'open') return;
    state = 'open';
    isCatchingUp = spool.size > 0;
    replay();
    sayAllSent();
  }

  return {
    add(id, payload, isUrgent = true) {
      spool.put(id, payload);
      if (isUrgent || room() > 0) post(id, payload, isUrgent);
    },
    repeat(id) {
      const payload = spool.payload(id);
      if (payload !== null) post(id, payload, true);
    },
    hear({ ticket: id, state: fate, reason, discarded = fate === 'refused' ? 1 : 0, skipped: left = 0 }) {
      if (state === 'held') resume();
      if (fate === 'later') {
        if (endOne(id)) postponed.set(id, clock.elapsed() + laterMs);
        return;
      }
      refused += discarded;
      skipped += left;
      if (discarded > 0 && clock.elapsed() - loggedAt >= logEveryMs) {
        log.warn({ reason, count: discarded, total: refused }, 'the hub refused results');
        loggedAt = clock.elapsed();
      }
      endOne(id);
      postponed.delete(id);
      spool.remove(id);
      replay();
      sayAllSent();
    },
    pause() {
      state = 'paused';
      underWay.clear();
      urgent.clear();
      postponed.clear();
    },
    hold: () => void (state = state === 'open' ? 'held' : state),
    resume,
    get unsent() {
      return Math.max(0, spool.size - underWay.size);
    },
    get refused() {
      return refused;
    },
    get skipped() {
      return skipped;
    },
    close() {
      state = 'paused';
      timer[Symbol.dispose]();
    },
  };
}
