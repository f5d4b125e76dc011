import { type CheckSpec, failed, failure, type NodeInfo, type Outcome } from '#checks/index.ts';
import type { Vote } from '#monitor/ports.ts';

const places: Record<string, { country: string; city: string }> = {
  de1: { country: 'Germany', city: 'Frankfurt' },
  us1: { country: 'USA', city: 'Los Angeles' },
  jp1: { country: 'Japan', city: 'Tokyo' },
};

export function nodeInfo(name: string): NodeInfo {
  return { name, countryCode: name.slice(0, 2), country: '', city: '', asn: '', ip: '', ...places[name] };
}

export const up = (seconds = 0.02): Outcome => ({
  status: 'up',
  seconds,
  address: '192.0.2.1',
  phases: { connect: seconds },
  facts: {},
  detail: {},
});

export const down = (message = 'connection refused'): Outcome =>
  failed(failure('target', 'refused', message), { address: '192.0.2.1' });

export const unknown = (message = 'the node is gone'): Outcome => failed(failure('node', 'gone', message));

/** Votes written as a line: `de1:up us1:down jp1:unknown`. */
export function votes(line: string): readonly Vote[] {
  const outcomes = { up, down, unknown };
  return line.split(' ').map((word) => {
    const [name = '', status = ''] = word.split(':');
    return { node: nodeInfo(name), outcome: outcomes[status as keyof typeof outcomes]() };
  });
}

export const anySpec: CheckSpec = { type: 'tcp', host: '192.0.2.1:80', timeout: 5_000 } as CheckSpec;
