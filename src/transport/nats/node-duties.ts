import { type ResultReceipt, resultFor } from '#protocol/nodes.ts';
import { watchingSince } from '#protocol/watching.ts';
import { createDelivery, type DeliveryOptions, type ReceiptDelivery } from './delivery.ts';
import { createDirectLink, type DirectHub, type DirectNode } from './direct-link.ts';
import { isBatch, type RemoteScheduler, type RemoteSchedulerOptions, watchRemotely } from './remote-watching.ts';

export interface NodeDutiesOptions
  extends Pick<DeliveryOptions, 'spool' | 'clock' | 'log'>, Pick<RemoteSchedulerOptions, 'name' | 'local' | 'random'> {
  readonly process: string;
  /** Sends a result over NATS; false if there is no connection. */
  readonly publish: (payload: string) => boolean;
  /** Reports over NATS after so many milliseconds. */
  readonly reportIn: (ms: number) => void;
}

/** What a node does for the hub that leads: it watches what that assigns, and delivers what it sees until that is stored. */
export interface NodeDuties {
  readonly delivery: ReceiptDelivery;
  readonly watching: RemoteScheduler;
  /** Whether a hub of this process leads. */
  readonly isDirect: boolean;
  serve(hub: DirectHub): DirectNode;
  /** A hub takes the node over NATS; `version` of the protocol is what both speak. */
  welcome(version: number, clockOffsetMs: number): void;
  /** No hub takes anything over NATS. */
  pause(): void;
  /** The hub has not answered in time: nothing is sent until it is heard again. It takes the share that it took. */
  hold(): void;
  /** Takes a receipt that came over NATS. */
  hear(receipt: ResultReceipt): void;
}

export function createNodeDuties({ publish, reportIn, ...options }: NodeDutiesOptions): NodeDuties {
  let version = 0;
  const delivery = createDelivery({
    ...options,
    send(payload) {
      if (direct.isOpen) {
        direct.send(payload);
        return true;
      }
      if (version < watchingSince && isBatch(payload)) return false;
      return publish(resultFor(version, payload));
    },
    onAllSent: () => reportIn(0),
  });
  const watching = watchRemotely({
    ...options,
    delivery,
    onChange() {
      direct.changed();
      reportIn(0);
    },
  });
  const direct = createDirectLink({
    delivery,
    watching,
    hear,
    onClosed() {
      pause();
      reportIn(0);
    },
  });

  // What no hub takes now is kept: nothing is skipped for it.
  function pause(): void {
    if (direct.isOpen) return;
    delivery.pause();
    watching.granted(1);
  }

  function hear(receipt: ResultReceipt): void {
    // "Later" from the budget of nodes comes before anything of the message is read, and says nothing of the share.
    if (receipt.state !== 'later' || receipt.grant !== undefined) watching.granted(receipt.grant ?? 1);
    delivery.hear(receipt);
  }

  return {
    delivery,
    watching,
    get isDirect() {
      return direct.isOpen;
    },
    serve: (hub) => direct.open(hub),
    welcome(agreed, clockOffsetMs) {
      version = agreed;
      if (direct.isOpen) return;
      if (version < watchingSince) watching.giveUp();
      watching.measured(clockOffsetMs);
      delivery.resume();
    },
    pause,
    hold() {
      if (!direct.isOpen) delivery.hold();
    },
    hear(receipt) {
      if (!direct.isOpen) hear(receipt);
      else if (receipt.state === 'stored') delivery.hear(receipt);
    },
  };
}
