import { encodeSpec, protocolRange, type ResultReceipt } from '#protocol/nodes.ts';
import type { Assignment } from '#protocol/watching.ts';
import type { ReceiptDelivery } from './delivery.ts';
import type { RemoteScheduler } from './remote-watching.ts';

/** A hub in the process of a node. While it leads it reaches the node without NATS. */
export interface DirectHub {
  /** Names the run of the hub: each numbers its assignments by itself. */
  readonly epoch: string;
  /** Takes a result or a batch; the receipt comes later. */
  take(payload: string): void;
  /** Every due time after `since` of the assignment of this number is kept or passed over; infinity where none is kept any more. */
  watching(number: number, since: number): void;
}

/** The node as this hub reaches it. Its end has the node serve the hub that leads over NATS again. */
export interface DirectNode extends Disposable {
  assign(assignment: Assignment): void;
  hear(receipt: ResultReceipt): void;
}

export interface DirectLinkOptions {
  readonly delivery: Pick<ReceiptDelivery, 'pause' | 'resume'>;
  readonly watching: Pick<RemoteScheduler, 'take' | 'state' | 'measured' | 'granted'>;
  readonly hear: (receipt: ResultReceipt) => void;
  /** Called when the node serves the hub that leads over NATS again. */
  readonly onClosed: () => void;
}

/** The node's side of the way to a hub in its own process. */
export interface DirectLink {
  readonly isOpen: boolean;
  open(hub: DirectHub): DirectNode;
  send(payload: string): void;
  /** What the node watches has changed. */
  changed(): void;
}

export function createDirectLink({ delivery, watching, hear, onClosed }: DirectLinkOptions): DirectLink {
  let current: DirectHub | null = null;

  return {
    get isOpen() {
      return current !== null;
    },
    send(payload) {
      const hub = current;
      // What sends has to note first that it did.
      queueMicrotask(() => hub !== null && hub === current && hub.take(payload));
    },
    changed() {
      const { state } = watching;
      if (state === null || state === undefined) current?.watching(0, Number.POSITIVE_INFINITY);
      else if (state.epoch === current?.epoch) current.watching(state.number, state.since);
    },
    open(hub) {
      delivery.pause();
      current = hub;
      // Both have the same clock.
      watching.measured(0);
      watching.granted(1);
      delivery.resume();
      return {
        assign({ number, targets }) {
          const written = targets.map(({ spec, ...target }) => ({ ...target, spec: encodeSpec(spec) }));
          const part = { index: 0, of: 1 };
          watching.take({ protocol: [...protocolRange], epoch: hub.epoch, number, part, targets: written });
        },
        hear(receipt) {
          if (current === hub) hear(receipt);
        },
        [Symbol.dispose]() {
          if (current !== hub) return;
          current = null;
          onClosed();
        },
      };
    },
  };
}
