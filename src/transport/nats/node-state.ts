import type { Spool } from '#node/ports.ts';
import type { Report } from '#protocol/nodes.ts';
import type { Transport } from '#service/ports.ts';
import type { ReceiptDelivery } from './delivery.ts';
import type { RemoteScheduler } from './remote-watching.ts';
import type { ReportedState } from './registration.ts';

interface ReportedNode {
  readonly local: Transport;
  readonly spool: Spool;
  readonly limit: number;
  readonly version: string;
}

/** What a node reports of itself. */
export function stateOf(
  { version, local, spool, limit }: ReportedNode,
  delivery: ReceiptDelivery,
  watching: RemoteScheduler,
): Omit<ReportedState, 'process'> {
  const { dropped } = spool;
  const hubOverload = delivery.skipped + watching.notGranted;
  const skipped = local.nodes()[0]?.losses?.skipped ?? 0;
  return {
    version,
    ...healthOf(local),
    spooled: spool.size,
    unsent: delivery.unsent,
    newestDroppedAt: spool.newestDroppedAt,
    losses: { dropped, refused: delivery.refused, skipped, hub_overload: hubOverload },
    capacity: limit,
    watching: watching.state,
  };
}

function healthOf(local: Transport): Pick<Report, 'capabilities' | 'running' | 'queued' | 'lagSeconds'> {
  const [status] = local.nodes();
  const { capabilities = {}, running = 0, queued = 0, lagSeconds = 0 } = status ?? {};
  return { capabilities, running, queued, lagSeconds };
}
