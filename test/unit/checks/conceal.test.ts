import { expect, test } from 'vitest';
import { checkOf, failed, failure, type Outcome } from '#checks/index.ts';
import { concealAddresses } from '#checks/conceal.ts';

const hidden = 'a private address';

test.each([
  ['no answer from 10.0.0.53 within 2 s', `no answer from ${hidden} within 2 s`],
  ['10.0.0.53:5353 answered SERVFAIL', `${hidden}:5353 answered SERVFAIL`],
  ['[fd00::53]:53 refused', `[${hidden}]:53 refused`],
  ['fe80::1%eth0 is silent', `${hidden} is silent`],
  [
    'connect EHOSTUNREACH 8.8.8.8:80 - Local (192.168.1.7:40000)',
    `connect EHOSTUNREACH 8.8.8.8:80 - Local (${hidden}:40000)`,
  ],
  ['::ffff:10.0.0.1 and ::1', `${hidden} and ${hidden}`],
  ['host unreachable, says 172.16.3.1', `host unreachable, says ${hidden}`],
  ['2606:4700::1111 is unreachable at 12:30:45', '2606:4700::1111 is unreachable at 12:30:45'],
  ['version 1.2.3 :: done', 'version 1.2.3 :: done'],
  ['127.0.0.1.nip.io is refused', '127.0.0.1.nip.io is refused'],
  ['app-10.0.0.12.nip.io:8080 resolves to 10.0.0.12.', `app-10.0.0.12.nip.io:8080 resolves to ${hidden}.`],
  ['10.0.0.1.xn--p1ai and 10.0.0.1._tcp.example', '10.0.0.1.xn--p1ai and 10.0.0.1._tcp.example'],
  ['10.0.0.53ms, 10.0.0.54-10.0.0.55, 10.0.0.56/24', `${hidden}ms, ${hidden}-${hidden}, ${hidden}/24`],
])('%s', (text, expected) => {
  expect(concealAddresses(text)).toBe(expected);
});

const detail = {
  A: ['10.1.2.3'],
  AAAA: [],
  PTR: null,
  TTL: 60,
  records: [{ type: 'A', data: '10.1.2.3', ttl: 60 }],
  rcode: 'NOERROR',
  server: '192.0.2.53',
  protocol: 'udp',
  truncated: false,
  authoritative: false,
  problems: [],
};
const answer = (more: object): Outcome => ({
  status: 'up',
  seconds: 0.01,
  address: '192.0.2.53',
  phases: {},
  facts: {},
  detail: { ...detail, ...more },
});

test('a name with a private address is refused whole, however many public ones it has', () => {
  const mixed = { A: ['8.8.8.8', '10.1.2.3'], records: [...detail.records, { type: 'A', data: '8.8.8.8', ttl: 60 }] };
  const six = { A: [], AAAA: ['fd00::1'], records: [{ type: 'AAAA', data: 'fd00::1', ttl: 60 }] };
  for (const more of [{}, mixed, six]) {
    const told = checkOf('dns').forStrangers(answer(more));
    expect(told).toMatchObject({ status: 'unknown', address: null, failure: { source: 'node', code: 'forbidden' } });
    expect(JSON.stringify(told)).not.toMatch(/10\.1\.2\.3|fd00|192\.0\.2\.53|8\.8/);
  }
});

test("the node's resolver is not named, public or not", () => {
  const found = { A: ['8.8.8.8'], records: [{ type: 'A', data: '8.8.8.8', ttl: 60 }] };
  const up = checkOf('dns').forStrangers(answer({ ...found, problems: ['192.0.2.53 answered SERVFAIL'] }));
  expect(up).toMatchObject({ status: 'up', address: null, detail: { A: ['8.8.8.8'], server: null } });
  const silent = failed(failure('resolver', 'name_timeout', 'no answer from 192.0.2.53:5353 within 2 s'), {
    address: '192.0.2.53',
    detail: { ...detail, ...found, server: '192.0.2.53:5353' },
  });
  const told = checkOf('dns').forStrangers(silent);
  expect(told).toMatchObject({ failure: { message: "no answer from the node's resolver within 2 s" } });
  expect(JSON.stringify([up, told])).not.toContain('192.0.2.53');
});

test('which router of its network told the node something stays with the node', () => {
  const attempts = [{ status: 'DEST_UNREACH', seconds: 0.1, ttl: null, reason: 'host unreachable, says 10.0.0.1' }];
  const outcome = failed(failure('target', 'unreachable', 'host unreachable, says 10.0.0.1'), {
    detail: { attempts, duplicates: 0, timed_by: 'kernel' },
  });
  const told = checkOf('ping').forStrangers(outcome);
  expect(told).toMatchObject({ failure: { message: `host unreachable, says ${hidden}` } });
  expect(JSON.stringify(told)).not.toContain('10.0.0.1');
});
