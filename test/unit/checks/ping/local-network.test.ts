import type { NetworkInterfaceInfo } from 'node:os';
import { expect, test } from 'vitest';
import { isGatewayFault } from '#checks/ping/local-network.ts';
import { describeNotice } from '#checks/ping/notice.ts';

const mac = '00:00:00:00:00:00';
const interfaces: Record<string, NetworkInterfaceInfo[]> = {
  eth0: [
    { address: '10.0.0.1', cidr: '10.0.0.1/24', netmask: '', mac, internal: false, family: 'IPv4' },
    { address: '2001:db8::1', cidr: '2001:db8::1/64', netmask: '', mac, internal: false, family: 'IPv6', scopeid: 0 },
  ],
  odd: [{ address: '10.1.0.1', cidr: null, netmask: '', mac, internal: false, family: 'IPv4' }],
};

test.each([
  { name: 'our own complaint about a target elsewhere', by: '10.0.0.1', target: '192.0.2.1', fault: true },
  { name: 'our own complaint about a neighbour', by: '10.0.0.1', target: '10.0.0.7', fault: false },
  { name: 'a router’s complaint', by: '10.0.0.254', target: '192.0.2.1', fault: false },
  { name: 'nobody’s complaint', by: null, target: '192.0.2.1', fault: false },
  { name: 'our own IPv6 complaint', by: '2001:db8:0::1', target: '2001:db8:1::1', fault: true },
  { name: 'our own complaint about an IPv6 neighbour', by: '2001:db8::1', target: '2001:db8::2', fault: false },
])('$name is the gateway’s fault: $fault', ({ by, target, fault }) => {
  expect(isGatewayFault(by, target, interfaces)).toBe(fault);
});

test.each([
  { family: 4, type: 3, code: 1, by: '192.0.2.1', text: 'host unreachable, says 192.0.2.1' },
  { family: 4, type: 11, code: 1, by: null, text: 'time to live exceeded' },
  { family: 4, type: 3, code: 200, by: null, text: 'unreachable (type 3, code 200)' },
  { family: 6, type: 1, code: 3, by: '2001:db8::1', text: 'address unreachable, says 2001:db8::1' },
  { family: 6, type: 99, code: 0, by: null, text: 'unreachable (type 99, code 0)' },
] as const)('IPv$family type $type code $code reads "$text"', ({ family, text, ...notice }) => {
  expect(describeNotice(family, { ...notice, fromNetwork: true })).toBe(text);
});
