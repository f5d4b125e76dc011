import { createSocket } from 'node:dgram';
import { AUTHORITATIVE_ANSWER, TRUNCATED_RESPONSE } from 'dns-packet';
import { expect, test } from 'vitest';
import { checkOf } from '#checks/index.ts';
import { Detail } from '#checks/dns/detail.ts';
import { Spec } from '#checks/dns/spec.ts';
import { probe } from '#checks/dns/probe.ts';
import type { ProbeContext } from '#checks/index.ts';
import { outcomeOf } from '#checks/outcome-schemas.ts';
import { systemRandom } from '#kernel/random.ts';
import { FakeClock, withoutTime } from '../../support/fake-clock.ts';
import { distrustingGate, literalGate } from '../../support/literal-gate.ts';
import { a, aaaa, answerTo, type Asked, nameServer } from '../../support/name-server.ts';
import { closedPort } from '../../support/tcp-servers.ts';

const clock = new FakeClock();
const environment = { clock, random: systemRandom, localAddress: {} };
const context: ProbeContext = {
  gate: literalGate({ 'ns1.example.com': '127.0.0.1' }),
  signal: new AbortController().signal,
};

/** Runs a check for which no time passes but what its server lets pass. */
async function run(spec: Record<string, unknown>, own: readonly string[] = [], within = context) {
  const read = Spec.parse({ type: 'dns', host: 'www.example.com', timeout: '3s', ...spec });
  const outcome = await withoutTime(
    clock,
    probe(read, within, environment, () => own),
  );
  return outcomeOf(Detail).parse(outcome);
}

const resolver = (server: { readonly port: number }) => `127.0.0.1:${server.port}`;

function zone(asked: Asked): void {
  if (asked.type === 'A') asked.answer([a(asked.name, '192.0.2.10', 300), a(asked.name, '192.0.2.11', 120)]);
  else if (asked.type === 'AAAA') asked.answer([aaaa(asked.name, '2001:db8::10', 600)]);
  else if (asked.name === '.') asked.answer([{ type: 'NS', name: '.', data: 'a.root-servers.example', ttl: 1 }]);
  else asked.answer();
}

test('addresses of both families come with the smallest TTL and the time of the query', async () => {
  await using server = await nameServer((asked) => {
    clock.hold(20);
    zone(asked);
  });
  const outcome = await run({}, [resolver(server)]);
  expect(outcome).toMatchObject({
    status: 'up',
    address: '127.0.0.1',
    facts: { answer_ttl: 120 },
    detail: {
      A: ['192.0.2.10', '192.0.2.11'],
      AAAA: ['2001:db8::10'],
      TTL: 120,
      PTR: null,
      rcode: 'NOERROR',
      protocol: 'udp',
      truncated: false,
    },
  });
  expect(outcome.seconds).toBeGreaterThan(0);
  expect(server.queries.map(({ type }) => type).sort()).toEqual(['A', 'AAAA']);
  expect(server.queries[0]?.query.additionals).toMatchObject([{ type: 'OPT', udpPayloadSize: 1_232 }]);
});

test('each query has its own id and source port', async () => {
  await using server = await nameServer(zone);
  for (let round = 0; round < 3; round += 1) await run({}, [resolver(server)]);
  expect(new Set(server.queries.map(({ query }) => query.id)).size).toBeGreaterThan(4);
  expect(new Set(server.queries.map(({ from }) => from?.port)).size).toBeGreaterThan(4);
});

test('an alias is followed within the answer and records of other names are left out', async () => {
  await using server = await nameServer((asked) => {
    if (asked.type !== 'A') return asked.answer();
    asked.answer([
      a('destination.example.net', '198.51.100.1', 5),
      a('edge.example.net', '192.0.2.20', 60),
      { type: 'CNAME', name: 'WWW.example.com', data: 'edge.example.net', ttl: 30 },
    ]);
  });
  const outcome = await run({}, [resolver(server)]);
  expect(outcome).toMatchObject({ status: 'up', detail: { A: ['192.0.2.20'], TTL: 30 } });
  expect(outcome.detail?.records).toHaveLength(2);
});

test('an address is asked for its name', async () => {
  await using server = await nameServer((asked) =>
    asked.answer([{ type: 'PTR', name: asked.name, data: 'host.example.com', ttl: 9 }]),
  );
  const four = await run({ host: '192.0.2.7' }, [resolver(server)]);
  expect(four).toMatchObject({ status: 'up', detail: { A: [], PTR: ['host.example.com'], TTL: 9 } });
  await run({ host: '2001:db8::1' }, [resolver(server)]);
  expect(server.queries.map(({ name }) => name)).toEqual([
    '7.2.0.192.in-addr.arpa',
    '1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa',
  ]);
});

test.each([
  { record: 'MX', data: { preference: 10, exchange: 'mail.example.com' }, text: '10 mail.example.com' },
  { record: 'TXT', data: ['v=spf1 ', '-all'], text: 'v=spf1 -all' },
  { record: 'NS', data: 'ns1.example.com', text: 'ns1.example.com' },
  { record: 'CNAME', data: 'edge.example.net', text: 'edge.example.net' },
  {
    record: 'SRV',
    data: { priority: 1, weight: 2, port: 3, target: 'sip.example.com' },
    text: '1 2 3 sip.example.com',
  },
  { record: 'CAA', data: { flags: 0, tag: 'issue', value: 'ca.example' }, text: '0 issue ca.example' },
  {
    record: 'DS',
    data: { keyTag: 60_485, algorithm: 5, digestType: 1, digest: Buffer.from('2bb183af', 'hex') },
    text: '60485 5 1 2bb183af',
  },
  {
    record: 'DNSKEY',
    data: { flags: 257, algorithm: 13, key: Buffer.from('mdsswUyr', 'base64') },
    text: '257 3 13 mdsswUyr',
  },
  {
    record: 'TLSA',
    data: { usage: 3, selector: 1, matchingType: 1, certificate: Buffer.from('0c72ac70', 'hex') },
    text: '3 1 1 0c72ac70',
  },
  {
    record: 'NAPTR',
    data: { order: 100, preference: 50, flags: 's', services: 'SIP+D2U', regexp: '', replacement: 'sip.example.com' },
    text: '100 50 "s" "SIP+D2U" "" sip.example.com',
  },
  {
    record: 'SOA',
    data: {
      mname: 'ns1.example.com',
      rname: 'root.example.com',
      serial: 7,
      refresh: 1,
      retry: 2,
      expire: 3,
      minimum: 4,
    },
    text: 'ns1.example.com root.example.com 7 1 2 3 4',
  },
])('a $record record is asked for and written as in a zone file', async ({ record, data, text }) => {
  await using server = await nameServer((asked) =>
    // The test's data are of the record's type.
    asked.answer([{ type: record, name: asked.name, data, ttl: 60 } as never]),
  );
  const outcome = await run({ record, expect: { [record]: text } }, [resolver(server)]);
  expect(outcome).toMatchObject({ status: 'up', detail: { records: [{ type: record, data: text, ttl: 60 }] } });
});

// The data of RFC 9460, appendix D, and one parameter of each kind.
test.each([
  {
    record: 'SVCB',
    hex: '0010 03666f6f 076578616d706c65 03636f6d 00 0003 0002 0035',
    text: '16 foo.example.com port=53',
  },
  {
    record: 'HTTPS',
    hex: '0001 00 0001 0006 026832 026833 0004 0008 c0000201 c0000202 0006 0010 20010db8000000000000000000000001',
    text: '1 . alpn=h2,h3 ipv4hint=192.0.2.1,192.0.2.2 ipv6hint=2001:db8::1',
  },
  { record: 'HTTPS', hex: '0000 03666f6f 00', text: '0 foo' },
  {
    record: 'SVCB',
    hex: '0001 00 0000 0002 0003 0002 0000 029b 0001 61',
    text: '1 . mandatory=port no-default-alpn key667=YQ==',
  },
  { record: 'HTTPS', hex: '0001 00 0004 0003 c00002', text: '' },
])('a $record record is asked for and written as in a zone file: $text', async ({ record, hex, text }) => {
  const bytes = Buffer.from(hex.replaceAll(' ', ''), 'hex');
  const type = record === 'SVCB' ? 'UNKNOWN_64' : 'UNKNOWN_65';
  await using server = await nameServer((asked) =>
    // The encoder's types do not know these by name.
    asked.answer([{ type, name: asked.name, data: bytes, ttl: 60 } as never]),
  );
  const outcome = await run({ record }, [resolver(server)]);
  expect(server.queries.map((query) => query.type)).toEqual([type]);
  expect(outcome).toMatchObject({ status: 'up', detail: { records: [{ type: record, data: text, ttl: 60 }] } });
});

test('a record that must not be there is down, whatever else is', async () => {
  await using server = await nameServer((asked) =>
    asked.answer(asked.type === 'A' ? [a(asked.name, '192.0.2.1'), a(asked.name, '203.0.113.9')] : []),
  );
  const expectation = { match: 'any', A: '192.0.2.1', not: { A: ['203.0.113.9'] } };
  expect(await run({ expect: expectation }, [resolver(server)])).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'answer', message: 'A has 203.0.113.9, which is not expected' },
  });
  const other = await run({ expect: { not: { A: '198.51.100.7' } } }, [resolver(server)]);
  expect(other).toMatchObject({ status: 'up' });
});

test.each([
  { name: 'NXDOMAIN is down', rcode: 3, failure: { source: 'target', code: 'name_not_found' } },
  { name: 'a name without addresses is down', rcode: 0, failure: { source: 'target', code: 'name_without_address' } },
  { name: 'REFUSED by the named server is down', rcode: 5, failure: { source: 'target', code: 'refused' } },
  { name: 'SERVFAIL by the named server is down', rcode: 2, failure: { source: 'target', code: 'name_server' } },
])('$name', async ({ rcode, failure }) => {
  await using server = await nameServer((asked) => asked.answer([], { rcode }));
  const outcome = await run({ resolver: resolver(server) });
  expect(outcome).toMatchObject({ status: 'down', failure, detail: { A: [], AAAA: [], TTL: null } });
  expect(checkOf('dns').row?.toRow(outcome)).toEqual([{ A: [], AAAA: [], TTL: null }]);
});

test('silence of the named server is down, with one repeat of each query', async () => {
  await using server = await nameServer(() => void clock.advance(2_000));
  const outcome = await run({ resolver: resolver(server) });
  expect(outcome).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'timeout' },
    address: '127.0.0.1',
  });
  await expect.poll(() => server.queries.length, { timeout: 20_000 }).toBe(4);
});

test('a closed port of the named server is down at once', async () => {
  const nobody = `127.0.0.1:${await closedPort()}`;
  expect(await run({ resolver: nobody, timeout: '9s' })).toMatchObject({
    status: 'down',
    failure: { code: 'refused' },
  });
  expect(await run({ resolver: nobody, timeout: '9s', protocol: 'tcp' })).toMatchObject({
    failure: { code: 'refused' },
  });
});

test('a named server may be a name, which the gate resolves', async () => {
  await using server = await nameServer(zone);
  expect(await run({ resolver: `ns1.example.com:${server.port}` })).toMatchObject({
    status: 'up',
    phases: { resolve: 0 },
  });
  expect(await run({ resolver: 'ns2.example.com' })).toMatchObject({
    status: 'down',
    failure: { code: 'name_not_found' },
  });
});

test.each(['udp', 'tcp'])('nothing is asked over %s where the gate refuses the connection', async (protocol) => {
  await using server = await nameServer(zone);
  const outcome = await run({ resolver: resolver(server), protocol }, [], { ...context, gate: distrustingGate });
  expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'forbidden' } });
  expect(server.queries).toEqual([]);
});

test('SERVFAIL by a resolver that works otherwise is the fault of the zone', async () => {
  await using server = await nameServer((asked) => (asked.name === '.' ? zone(asked) : asked.answer([], { rcode: 2 })));
  const outcome = await run({}, [resolver(server)]);
  expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'name_server' } });
});

test('SERVFAIL by a resolver that fails for everything is the fault of the resolver', async () => {
  await using server = await nameServer((asked) => asked.answer([], { rcode: 2 }));
  const outcome = await run({}, [resolver(server)]);
  expect(outcome).toMatchObject({ status: 'unknown', failure: { source: 'resolver', code: 'name_server' } });
});

test("silence of the node's own resolver is nobody's outage, unless it answers other questions", async () => {
  await using dead = await nameServer(() => void clock.advance(2_000));
  await using choosy = await nameServer((asked) => (asked.name === '.' ? zone(asked) : void clock.advance(2_000)));
  expect(await run({}, [resolver(dead)])).toMatchObject({
    status: 'unknown',
    failure: { source: 'resolver', code: 'name_timeout' },
  });
  expect(await run({}, [resolver(choosy)])).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'name_timeout' },
  });
});

test('the next of the own name servers is asked where one is silent, closed or refuses', async () => {
  await using silent = await nameServer((asked) => {
    if (asked.number === 1) void clock.advance(1_000);
  });
  await using refusing = await nameServer((asked) => asked.answer([], { rcode: 5 }));
  await using good = await nameServer(zone);
  const outcome = await run({}, [resolver(silent), resolver(refusing), resolver(good)]);
  expect(outcome).toMatchObject({ status: 'up', detail: { server: resolver(good) } });
});

test('a node without name servers says so', async () => {
  expect(await run({}, [])).toMatchObject({ status: 'unknown', failure: { source: 'node', code: 'local' } });
});

test('a lost datagram is repeated, and the time is that of the repeat', async () => {
  await using server = await nameServer((asked) => {
    if (asked.number === 1) return void clock.advance(1_200);
    clock.hold(20);
    zone(asked);
  });
  const outcome = await run({ record: 'A', resolver: resolver(server) });
  expect(outcome).toMatchObject({ status: 'up', seconds: expect.closeTo(0.02, 6) });
});

test('an answer to the first datagram that comes after the second is timed from the first', async () => {
  const first: Asked[] = [];
  await using server = await nameServer((asked) => {
    if (asked.number > 1) return first.forEach(zone);
    first.push(asked);
    void clock.advance(1_200);
  });
  const outcome = await run({ record: 'A', resolver: resolver(server) });
  expect(outcome).toMatchObject({ status: 'up', seconds: expect.closeTo(1.2, 6) });
});

test('answers with a wrong id, to another question, or from another port are ignored', async () => {
  const stranger = createSocket('udp4');
  await using server = await nameServer((asked) => {
    const evil = [a(asked.name, '198.51.100.66')];
    const bytes = answerTo(asked.query, evil);
    stranger.send(bytes, asked.from?.port ?? 0, '127.0.0.1', () => {
      asked.reply(answerTo({ ...asked.query, id: ((asked.query.id ?? 0) + 1) & 0xffff }, evil));
      asked.reply(answerTo({ ...asked.query, questions: [{ name: 'evil.example', type: 'A' }] }, evil));
      asked.reply(answerTo({ ...asked.query, questions: [] }, evil));
      asked.reply(bytes.subarray(0, 5));
      zone(asked);
      asked.answer(evil);
    });
  });
  const outcome = await run({ record: 'A', resolver: resolver(server) });
  stranger.close();
  expect(outcome).toMatchObject({ status: 'up', detail: { A: ['192.0.2.10', '192.0.2.11'] } });
});

test('an echo of the query is no answer', async () => {
  await using server = await nameServer((asked) => {
    asked.reply(answerTo(asked.query, [], { type: 'query' }));
    void clock.advance(2_000);
  });
  expect(await run({ record: 'A', resolver: resolver(server) })).toMatchObject({
    failure: { code: 'timeout', message: expect.stringContaining('2 unrelated packets') },
  });
});

test.each([
  { name: 'cut off', forge: (answer: Buffer) => answer.subarray(0, -3) },
  {
    name: 'a header that promises more than there is',
    forge: (answer: Buffer) => (answer.writeUInt16BE(900, 6), answer),
  },
  {
    name: 'a compression loop',
    forge: (answer: Buffer) => {
      const loop = answer.length - 27;
      answer.writeUInt16BE(0xc000 | loop, loop);
      return answer;
    },
  },
  {
    name: 'an address of three bytes',
    forge: (answer: Buffer) => (answer.writeUInt16BE(3, answer.length - 6), answer.subarray(0, -1)),
  },
])('an answer that cannot be read is down: $name', async ({ forge }) => {
  await using server = await nameServer((asked) =>
    asked.reply(forge(answerTo(asked.query, [a(asked.name, '192.0.2.10')], { additionals: [] }))),
  );
  const outcome = await run({ record: 'A', resolver: resolver(server) });
  expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'protocol' } });
});

test('a truncated answer may be cut off anywhere', async () => {
  await using server = await nameServer((asked) => {
    if (asked.protocol === 'tcp') return zone(asked);
    const whole = answerTo(asked.query, [a(asked.name, '192.0.2.10')], { flags: TRUNCATED_RESPONSE });
    asked.reply(whole.subarray(0, -6));
  });
  const outcome = await run({ record: 'A', resolver: resolver(server) });
  expect(outcome).toMatchObject({ status: 'up', detail: { protocol: 'tcp', truncated: true } });
});

test('a truncated answer is fetched over TCP', async () => {
  await using server = await nameServer((asked) =>
    asked.protocol === 'udp' ? asked.answer([], { flags: TRUNCATED_RESPONSE }) : zone(asked),
  );
  const outcome = await run({ record: 'A', resolver: resolver(server) });
  expect(outcome).toMatchObject({
    status: 'up',
    detail: { protocol: 'tcp', truncated: true, A: ['192.0.2.10', '192.0.2.11'] },
  });
});

test('an answer truncated over TCP too is down', async () => {
  await using server = await nameServer((asked) => asked.answer([], { flags: TRUNCATED_RESPONSE }));
  expect(await run({ record: 'A', resolver: resolver(server) })).toMatchObject({
    status: 'down',
    failure: { code: 'protocol', message: expect.stringContaining('over TCP') },
  });
});

test.each([
  { name: 'that is closed without an answer', act: (asked: Asked) => asked.socket?.end(), code: 'closed' },
  { name: 'that is reset', act: (asked: Asked) => asked.socket?.resetAndDestroy(), code: 'reset' },
  { name: 'that stays silent', act: () => void clock.advance(3_000), code: 'timeout' },
  { name: 'that answers another question', act: (asked: Asked) => asked.reply(Buffer.alloc(20)), code: 'protocol' },
  {
    name: 'that ends within the answer',
    act: (asked: Asked) => asked.socket?.end(Buffer.from([0, 200, 1, 2, 3])),
    code: 'closed',
  },
])('a TCP connection $name is down as $code', async ({ act, code }) => {
  await using server = await nameServer(act);
  const outcome = await run({ record: 'A', protocol: 'tcp', resolver: resolver(server) });
  expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code } });
});

test('an answer over TCP may come byte by byte', async () => {
  await using server = await nameServer((asked) => {
    const answer = answerTo(asked.query, [a(asked.name, '192.0.2.10')]);
    asked.socket?.setNoDelay(true);
    for (const byte of [0, answer.length, ...answer]) asked.socket?.write(Buffer.from([byte]));
  });
  const outcome = await run({ record: 'A', protocol: 'tcp', resolver: resolver(server) });
  expect(outcome).toMatchObject({ status: 'up', detail: { protocol: 'tcp', truncated: false } });
});

test('a server that cannot read EDNS is asked again without it', async () => {
  await using server = await nameServer((asked) => {
    if ((asked.query.additionals ?? []).length > 0) asked.answer([], { rcode: 1, questions: [] });
    else zone(asked);
  });
  expect(await run({ record: 'A', resolver: resolver(server) })).toMatchObject({ status: 'up' });
});

test('one family may be answered while the other is not: up, with the trouble noted', async () => {
  await using server = await nameServer((asked) => (asked.type === 'A' ? zone(asked) : asked.answer([], { rcode: 2 })));
  const outcome = await run({ resolver: resolver(server) });
  expect(outcome).toMatchObject({
    status: 'up',
    detail: { AAAA: [], problems: [expect.stringContaining('SERVFAIL')] },
  });
});

test.each([
  { name: 'the very addresses', expected: { A: ['192.0.2.11', '192.0.2.10'] }, status: 'up' },
  { name: 'an IPv6 address in another spelling', expected: { AAAA: '2001:DB8:0::10' }, status: 'up' },
  { name: 'one of two addresses, exactly', expected: { A: ['192.0.2.10'] }, status: 'down' },
  { name: 'one of two addresses, contained', expected: { A: ['192.0.2.10'], match: 'contains' }, status: 'up' },
  {
    name: 'a foreign address, contained',
    expected: { A: ['192.0.2.10', '192.0.2.9'], match: 'contains' },
    status: 'down',
  },
  { name: 'any of two addresses', expected: { A: ['192.0.2.10', '192.0.2.9'], match: 'any' }, status: 'up' },
  { name: 'no IPv6 address', expected: { AAAA: [] }, status: 'down' },
  { name: 'the response code', expected: { rcode: 'NOERROR' }, status: 'up' },
  { name: 'another response code', expected: { rcode: 'NXDOMAIN' }, status: 'down' },
])('expecting $name is $status', async ({ expected, status }) => {
  await using server = await nameServer(zone);
  const outcome = await run({ resolver: resolver(server), expect: expected });
  expect(outcome.status).toBe(status);
  if (outcome.status !== 'up') expect(outcome.failure.code).toBe('answer');
});

test.each([
  { rcode: 'NXDOMAIN', code: 3 },
  { rcode: 'REFUSED', code: 5 },
  { rcode: 'SERVFAIL', code: 2 },
])('$rcode is up where it is expected', async ({ rcode, code }) => {
  await using server = await nameServer((asked) => asked.answer([], { rcode: code }));
  expect(await run({ resolver: resolver(server), expect: { rcode } })).toMatchObject({
    status: 'up',
    detail: { rcode },
  });
});

test('no addresses are up where none are expected', async () => {
  await using server = await nameServer((asked) => asked.answer());
  expect(await run({ resolver: resolver(server), expect: { A: [], AAAA: [] } })).toMatchObject({ status: 'up' });
});

test('a server that only refers to others does not know the name', async () => {
  await using server = await nameServer((asked) =>
    asked.answer([], { authorities: [{ type: 'NS', name: 'com', data: 'ns.example.net', ttl: 1 }] }),
  );
  const outcome = await run({ resolver: resolver(server), recursion: false });
  expect(outcome).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: expect.stringContaining('refers') },
  });
  expect(server.queries.every(({ query }) => !query.flag_rd)).toBe(true);
});

test('an authoritative answer is told from others', async () => {
  await using server = await nameServer((asked) =>
    asked.answer([a(asked.name, '192.0.2.1')], { flags: AUTHORITATIVE_ANSWER }),
  );
  expect(await run({ record: 'A', resolver: resolver(server) })).toMatchObject({ detail: { authoritative: true } });
});

test('a server at an IPv6 address is asked', async () => {
  await using server = await nameServer(zone, '::1');
  expect(await run({ resolver: `[::1]:${server.port}` })).toMatchObject({ status: 'up', address: '::1' });
  expect(await run({}, [`[::1]:${server.port}`])).toMatchObject({ status: 'up', address: '::1' });
});

test.each(['udp', 'tcp'])('an aborted probe over %s rejects with the reason at once', async (protocol) => {
  const controller = new AbortController();
  const reason = new Error('nobody waits any more');
  await using server = await nameServer(() => controller.abort(reason));
  const running = run({ resolver: resolver(server), timeout: '9s', protocol }, [], {
    ...context,
    signal: controller.signal,
  });
  await expect(running).rejects.toBe(reason);
});
