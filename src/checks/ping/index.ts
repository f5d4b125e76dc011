import { defineCheck } from '../check.ts';
import { asProbe } from './as-probe.ts';
import { Detail, forStrangers } from './detail.ts';
import { evidence } from './evidence.ts';
import { lines } from './lines.ts';
import { apiOptions } from './over-api.ts';
import { fromRow, shape, toRow } from './row.ts';
import { Spec } from './spec.ts';
import { deadlineMs } from './deadline.ts';
import { table } from './table.ts';

/**
 * ICMP echo from inside the process. A round trip is the time from the request's handover to the network device (the kernel
 * tells it by SO_TIMESTAMPING; else the wall clock right before `sendto(2)`) to the kernel's receive stamp on the reply
 * (SO_TIMESTAMPNS), so that it does not matter how late this process sends or reads. A reply belongs to a request by source address, sequence number and payload, whose first eight bytes are random. ICMP errors come
 * from the socket's error queue (IP_RECVERR), on datagram and raw sockets alike.
 */
export const ping = defineCheck({
  type: 'ping',
  summary: 'Sends ICMP echo requests and takes the round trip of each.',
  Spec,
  Detail,
  phases: ['resolve'],
  facts: ['loss', 'rtt_min', 'rtt_mean', 'rtt_max', 'rtt_deviation', 'ipv4_seconds', 'ipv6_seconds'],
  deadlineMs,
  apiOptions,
  evidence,
  port: () => null,
  asProbe,
  lines,
  forStrangers,
  row: { shape, toRow, fromRow },
  table,
});
