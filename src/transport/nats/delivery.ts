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
   * Takes a new result: it is spooled, then sent before anything that waits. One that is not urgent waits in the spool if as much as
   * may be is under way.
   */
  add(id: string, payload: string, isUrgent?: boolean): void;
  /** Sends a result again whose command came again, if it is still here. */
  repeat(id: string): void;
  hear(receipt: ResultReceipt): void;
  /** There is no hub, or another one: nothing is sent until `resume`, and then everything that has no receipt again. */
  pause(): void;
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
  /** What the hub wants later, with the time that it is sent again. */
  const postponed = new Map<string, number>();
  let open = false;
  let isCatchingUp = false;
  let refused = 0;
  let skipped = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  let timer = clock.after(lookEveryMs, look);

  const post = (id: string, payload: string): void => {
    if (open && send(payload)) underWay.set(id, clock.elapsed() + receiptMs);
  };

  function look(): void {
    for (const due of [underWay, postponed])
      for (const [id, until] of due) if (clock.elapsed() >= until) due.delete(id);
    replay();
    timer = clock.after(lookEveryMs, look);
  }

  function replay(): void {
    if (!open || underWay.size >= window || spool.size <= underWay.size + postponed.size) return;
    const free = window - underWay.size;
    const waiting = spool.newest(window + postponed.size).filter((id) => !underWay.has(id) && !postponed.has(id));
    // The newest first, but in order: a later result of a target tells the hub that no earlier one comes.
    for (const id of waiting.slice(0, free).toReversed()) {
      const payload = spool.payload(id);
      if (payload !== null) post(id, payload);
    }
  }

  function sayAllSent(): void {
    if (!isCatchingUp || spool.size > underWay.size) return;
    isCatchingUp = false;
    onAllSent?.();
  }

  return {
    add(id, payload, isUrgent = true) {
      spool.put(id, payload);
      if (isUrgent || underWay.size < window) post(id, payload);
    },
    repeat(id) {
      const payload = spool.payload(id);
      if (payload !== null) post(id, payload);
    },
    hear({ ticket: id, state, reason, discarded = state === 'refused' ? 1 : 0, skipped: left = 0 }) {
      if (state === 'later') {
        if (underWay.delete(id)) postponed.set(id, clock.elapsed() + laterMs);
        return;
      }
      refused += discarded;
      skipped += left;
      if (discarded > 0 && clock.elapsed() - loggedAt >= logEveryMs) {
        log.warn({ reason, count: discarded, total: refused }, 'the hub refused results');
        loggedAt = clock.elapsed();
      }
      underWay.delete(id);
      postponed.delete(id);
      spool.remove(id);
      replay();
      sayAllSent();
    },
    pause() {
      open = false;
      underWay.clear();
      postponed.clear();
    },
    resume() {
      if (open) return;
      open = true;
      isCatchingUp = spool.size > 0;
      replay();
      sayAllSent();
    },
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
      open = false;
      timer[Symbol.dispose]();
    },
  };
}
