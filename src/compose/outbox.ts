import type { CheckRunnerEnvironment } from '#compose/checking.ts';
import {
  openReloadableChannels,
  othersOf,
  policiesOf,
  readdressedBy,
  type ReloadableChannels,
} from '#compose/delivery.ts';
import { reportLostAlerts } from '#compose/former-contacts.ts';
import type { Foundation } from '#compose/foundation.ts';
import type { StartupState } from '#compose/startup-state.ts';
import type { Config } from '#config/config.ts';
import { createEvidenceReader } from '#compose/evidence.ts';
import type { SharedCauses } from '#monitor/evidence/shared-causes.ts';
import { silenceAt } from '#monitor/suppress/silence.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { createOutbox, type Outbox, type OutboxOptions } from '#monitor/notify/outbox.ts';
import { createUnstored, type UnstoredDeliveries } from '#monitor/notify/unstored.ts';
import { incidentHref } from '#web/pages/links.ts';

export interface OutboxDependencies
  extends CheckRunnerEnvironment, Pick<Foundation, 'store' | 'metrics' | 'identity' | 'devices'> {
  readonly upcoming: StartupState;
  readonly sharedCauses: Pick<SharedCauses, 'sharedBy'>;
  readonly acknowledgeAt: OutboxOptions['acknowledgeAt'];
  readonly acknowledgeAllAt: OutboxOptions['acknowledgeAllAt'];
  readonly hubRemark: OutboxOptions['hubRemark'];
}

export interface OpenedOutbox {
  readonly outbox: Outbox;
  /** Deliveries that are sent without being stored. */
  readonly unstored: UnstoredDeliveries;
  readonly channels: ReloadableChannels;
  /** The page of an incident, where incidents have pages. */
  readonly linkTo: (incident: Incident) => string | null;
}

/** Opens the channels, and the outbox that sends through them once it is started. */
export function openOutbox(
  config: Config,
  {
    store,
    metrics,
    identity,
    upcoming,
    sharedCauses,
    acknowledgeAt,
    acknowledgeAllAt,
    hubRemark,
    clock,
    random,
    log,
    renewal,
    devices,
  }: OutboxDependencies,
  started: AsyncDisposableStack,
): OpenedOutbox {
  const channels = openReloadableChannels(config, upcoming.inForce, { clock, log, renewal, devices: devices.channel });
  for (const channel of channels.list) started.defer(async () => channel.close());
  const unstored = createUnstored({ store, log });
  const linkTo = ({ id }: Incident) => {
    const { publicUrl } = upcoming.inForce().http;
    return publicUrl === null ? null : `${publicUrl}${incidentHref(id)}`;
  };
  const outbox = createOutbox({
    store: unstored,
    channels: channels.list,
    clock,
    random,
    log,
    policyOf: policiesOf(upcoming.inForce),
    othersOf: (address) => othersOf(upcoming.inForce(), address),
    isSilenced: ({ target }) => silenceAt(upcoming.watching?.monitor.silences() ?? [], target, clock.now()) !== null,
    linkTo,
    acknowledgeAt,
    acknowledgeAllAt,
    hubRemark,
    identity,
    evidenceOf: createEvidenceReader({ store, sharedCauses, inForce: upcoming.inForce, log }),
    budgetOf: ({ target }) => upcoming.watching?.monitor.budgets(target)[0] ?? null,
    seenNow: (incident) => upcoming.watching?.monitor.seenNow(incident) ?? null,
    onSettled: ({ channel, outcome, delayMs }) =>
      metrics.deliverySettled({ channel, state: outcome === 'retry' ? 'pending' : outcome, createdAt: 0, at: delayMs }),
  });
  started.defer(async () => outbox.stop());
  return { outbox, unstored, channels: { ...channels, prepare }, linkTo };

  function prepare(next: Config): () => void {
    const readdressed = readdressedBy(upcoming.inForce(), next);
    const { contacts: before } = upcoming.inForce();
    const putIntoForce = channels.prepare(next);
    return () => {
      putIntoForce();
      reportLostAlerts({ before, next: channels.contactsOf(next), store: unstored, log });
      outbox.readdressed(readdressed);
    };
  }
}
