import { CheckSpec } from '#checks/index.ts';
import type { BenchedType, Ports } from './subject.ts';

const known = new Map<string, CheckSpec>();

/** The spec that all subjects run in their own way: one echo, one GET, one handshake, one A question, one datagram. */
export function specOf(type: BenchedType, address: string, ports: Ports): CheckSpec {
  const key = `${type} ${address}`;
  const spec = known.get(key) ?? CheckSpec.parse(written(type, address, ports));
  known.set(key, spec);
  return spec;
}

function written(type: BenchedType, address: string, ports: Ports): unknown {
  switch (type) {
    case 'ping':
      return { type, host: address, count: 1 };
    case 'http':
      return { type, host: `http://${address}:${ports.http}/` };
    case 'tcp':
      return { type, host: `${address}:${ports.tcp}` };
    case 'dns':
      return { type, host: 'host.example', record: 'A', resolver: `${address}:${ports.dns}` };
    case 'udp':
      return { type, host: `${address}:${ports.udp}`, send: 'hello' };
  }
}
