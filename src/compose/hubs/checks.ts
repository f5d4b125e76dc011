import type { NatsConnection } from '@nats-io/transport-node';
import { z } from 'zod';
import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import type { CheckSharing } from '#compose/service.ts';
import type { NatsAccess } from '#config/config.ts';
import { watchEnrolled } from '#config/shape/enrolled.ts';
import type { CheckKeeper } from '#compose/hubs/forward.ts';
import { announceGrants, askAboutCheck } from '#hubs/peers.ts';
import { runTag } from '#hubs/run-tag.ts';
import type { LimitCharge } from '#service/limits.ts';
import { createRuns, type Runs } from '#service/runs.ts';
import { createFollowerTransport } from '#transport/nats/follower.ts';
import { hubAccount } from '#transport/nats/keys.ts';

/** Checks that callers start on any of several hubs. */
export interface HubChecks extends AsyncDisposable {
  /** On the nodes of other machines, while another hub leads. */
  readonly runs: Runs;
  readonly sharing: CheckSharing;
  /** For how long a node has not been heard by this hub, whichever one leads, in milliseconds. */
  silentMs(node: string): number;
  /** Which other hub keeps the checks of a tag, where `others` are those that are known; null for this one. */
  keeper(tag: string, others: readonly string[]): CheckKeeper | null;
  /** To be called with each new connection, and once it is lost. */
  up(connection: NatsConnection): void;
  down(): void;
  /** Takes what another hub has granted. */
  takeGrants(grants: readonly unknown[]): void;
}

// Until then two hubs may grant the same allowance.
const announceEveryMs = 100;
// Some kilobytes each: together they are shorter than a server takes.
const announcedAtOnce = 20;

const Charge = z.object({
  client: z.string(),
  targets: z.array(z.string()),
  nodes: z.array(z.string()),
  isScarce: z.boolean().default(false),
});

export async function openHubChecks(
  access: NatsAccess,
  hub: string,
  connection: () => NatsConnection | null,
  environment: Pick<CheckRunnerEnvironment, 'clock' | 'random' | 'log'>,
): Promise<HubChecks> {
  const { clock } = environment;
  const transport = createFollowerTransport({
    hub,
    account: await hubAccount(access),
    enrolled: watchEnrolled(access.nodesFile),
    connection,
    ...environment,
  });
  let waiting: LimitCharge[] = [];
  let timer: Disposable | null = null;
  const ownTag = runTag(hub);
  /** Those of hubs that have answered. */
  const seenTags = new Set<string>();
  let heard: (charge: LimitCharge) => void = () => {};

  function announce(): void {
    timer = null;
    const charges = waiting;
    waiting = [];
    const current = connection();
    if (current === null) return;
    for (let from = 0; from < charges.length; from += announcedAtOnce)
      announceGrants(current, hub, charges.slice(from, from + announcedAtOnce));
  }

  return {
    runs: createRuns(transport, clock),
    sharing: {
      idTag: ownTag,
      granted(charge) {
        waiting.push(charge);
        timer ??= clock.after(announceEveryMs, announce);
      },
      listen: (listener) => void (heard = listener),
    },
    keeper(tag, others) {
      if (tag === ownTag) return null;
      return {
        isKnown: () => seenTags.has(tag) || others.some((name) => runTag(name) === tag),
        async ask(request, times) {
          const current = connection();
          if (current === null) throw new Error('there is no connection to NATS');
          const answer = await askAboutCheck(current, tag, request, times, clock);
          if (answer !== null) seenTags.add(tag);
          return answer;
        },
      };
    },
    silentMs: (node) => transport.silentMs(node),
    up: (current) => transport.up(current),
    down: () => transport.down(),
    takeGrants(grants) {
      for (const charge of z.array(Charge).parse(grants)) heard(charge);
    },
    async [Symbol.asyncDispose]() {
      timer?.[Symbol.dispose]();
      await transport.close();
    },
  };
}
