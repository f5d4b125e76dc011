import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AUTHORITATIVE_ANSWER, decode, encode, RECURSION_DESIRED } from 'dns-packet';
import { describe, expect, test } from 'vitest';
import type { EvidenceDocument } from '#checks/evidence/detail.ts';
import { issue, issueAuthority, type Issued } from '../../support/certificates.ts';
import { serveHttp2, serveHttps } from '../../support/http-servers.ts';
import { tlsServer } from '../../support/tcp-servers.ts';
import { conclusionsFrom, gatherEvidence } from '../../support/evidence.ts';
import { a, type Asked, type NameServer, nameServer } from '../../support/name-server.ts';

const NXDOMAIN = 3;
const REFUSED = 5;
const SERVFAIL = 2;

const ns = (name: string, data: string) => ({ type: 'NS' as const, name, data, ttl: 300 });

/** What the parent zone answers: a referral to these servers. */
function referTo(zone: string, servers: Readonly<Record<string, string>>) {
  return (asked: Asked) => {
    const authorities = Object.keys(servers).map((name) => ns(zone, name));
    const additionals = Object.entries(servers).map(([name, address]) => a(name, address));
    asked.answer([], { authorities, additionals });
  };
}

const authoritative = (address: string) => (asked: Asked) =>
  asked.answer(asked.type === 'A' ? [a(asked.name, address)] : [], { flags: AUTHORITATIVE_ANSWER });

const refuse = (asked: Asked) => asked.answer([], { rcode: REFUSED });
const silent = () => {};

interface World {
  readonly resolver: (asked: Asked) => void;
  readonly servers: Readonly<Record<string, (asked: Asked) => void>>;
}

/** The world from a node's resolver, with name servers at loopback addresses of their own. */
async function gather({ resolver, servers }: World, target: object = { type: 'tcp', host: 'www.example.com:25' }) {
  await using stack = new AsyncDisposableStack();
  const own = stack.use(await nameServer(resolver));
  const started = new Map<string, NameServer>();
  for (const [address, handle] of Object.entries(servers)) {
    started.set(address, stack.use(await nameServer(handle, address)));
  }
  return await gatherEvidence(target, {
    names: { 'ns1.example.com': '127.0.0.2', 'ns.com': '127.0.0.9', 'dns.example': '127.0.0.1' },
    tools: {
      ownServers: () => [`127.0.0.1:${own.port}`],
      namePortOf: (address) => started.get(address)?.port ?? 1,
      rootServers: ['127.0.0.8'],
    },
  });
}

/** A resolver that knows the two zones and answers `A` questions in this way. */
const resolving = (answer: (asked: Asked) => void) => (asked: Asked) => {
  if (asked.type === 'A') answer(asked);
  else if (asked.type === 'NS' && asked.name === 'com') asked.answer([ns('com', 'ns.com')]);
  else if (asked.type === 'NS' && asked.name === 'example.com') asked.answer([ns('example.com', 'ns1.example.com')]);
  else asked.answer();
};

const conclusions = (document: EvidenceDocument) => conclusionsFrom(document, 'name_server');

const com = referTo('example.com', { 'ns1.example.com': '127.0.0.2', 'ns2.example.com': '127.0.0.3' });

test.concurrent('a resolver that lies is contradicted by the authoritative servers', async () => {
  const document = await gather({
    resolver: resolving((asked) => asked.answer([a(asked.name, '203.0.113.9')])),
    servers: { '127.0.0.9': com, '127.0.0.2': authoritative('192.0.2.1'), '127.0.0.3': authoritative('192.0.2.1') },
  });
  expect(document.names).toMatchObject({
    name: 'www.example.com',
    record: 'A',
    answers: ['203.0.113.9'],
    failure: null,
    rcode: 'NOERROR',
    delegation: [
      { zone: 'com', servers: [{ name: 'ns.com', answer: null }] },
      {
        zone: 'example.com',
        servers: [
          { name: 'ns1.example.com', address: '127.0.0.2', answer: ['192.0.2.1'], authoritative: true },
          { name: 'ns2.example.com', address: '127.0.0.3', answer: ['192.0.2.1'], authoritative: true },
        ],
      },
    ],
  });
  const [text] = conclusions(document);
  expect(text).toMatch(
    /^The resolver of de1 \(127\.0\.0\.1:\d+\) answers 203\.0\.113\.9 for www\.example\.com, the authoritative servers 192\.0\.2\.1\.$/,
  );
});

test.concurrent('a server that the parent lists without need of it is a lame delegation', async () => {
  const document = await gather({
    resolver: resolving((asked) => asked.answer([a(asked.name, '192.0.2.1')])),
    servers: { '127.0.0.9': com, '127.0.0.2': authoritative('192.0.2.1'), '127.0.0.3': refuse },
  });
  expect(conclusions(document)).toEqual([
    'The name server ns2.example.com is listed for example.com and does not answer with authority (REFUSED).',
  ]);
});

test.concurrent('a resolver that fails although the authoritative servers answer is found out', async () => {
  const document = await gather({
    resolver: resolving((asked) => asked.answer([], { rcode: SERVFAIL })),
    servers: { '127.0.0.9': com, '127.0.0.2': authoritative('192.0.2.1'), '127.0.0.3': silent },
  });
  expect(document.names).toMatchObject({ answers: [], rcode: 'SERVFAIL' });
  const [text] = conclusions(document);
  expect(text).toMatch(
    /^The authoritative servers of example\.com answer, the resolver of de1 \(.*\) answers SERVFAIL\.$/,
  );
});

test.concurrent('behind a resolver that is silent the servers are found from the root', async () => {
  const document = await gather({
    resolver: silent,
    servers: {
      '127.0.0.8': referTo('com', { 'ns.com': '127.0.0.9' }),
      '127.0.0.9': com,
      '127.0.0.2': authoritative('192.0.2.1'),
      '127.0.0.3': authoritative('192.0.2.1'),
    },
  });
  expect(document.names?.delegation.map(({ zone }) => zone)).toEqual(['com', 'example.com']);
  const [text] = conclusions(document);
  expect(text).toMatch(/^The authoritative servers of example\.com answer, the resolver of de1 \(.*\) does not\.$/);
  expect(document.uplink?.resolver).toMatchObject({ answered: false });
});

test.concurrent('a server that is silent over UDP is asked over TCP', async () => {
  const document = await gather({
    resolver: resolving((asked) => asked.answer([], { rcode: SERVFAIL })),
    servers: {
      '127.0.0.9': referTo('example.com', { 'ns1.example.com': '127.0.0.2' }),
      '127.0.0.2': (asked) => (asked.protocol === 'tcp' ? authoritative('192.0.2.1')(asked) : undefined),
    },
  });
  expect(document.names?.delegation.at(-1)?.servers).toMatchObject([{ answer: ['192.0.2.1'], failure: null }]);
});

test.concurrent('a name that its own servers deny does not exist', async () => {
  const deny = (asked: Asked) => asked.answer([], { rcode: NXDOMAIN, flags: AUTHORITATIVE_ANSWER });
  const document = await gather({
    resolver: resolving(deny),
    servers: { '127.0.0.9': com, '127.0.0.2': deny, '127.0.0.3': deny },
  });
  expect(conclusions(document)).toEqual([
    'The authoritative servers of example.com answer that www.example.com does not exist.',
  ]);
  // Whether the domain has expired is asked of its registry, which cannot be reached here.
  expect(document.names?.registration).toMatchObject({ domain: 'example.com', registered: null });
});

test.concurrent('the answers for a dns target are those for its own question', async () => {
  const document = await gather(
    {
      resolver: (asked) =>
        asked.type === 'MX'
          ? asked.answer([
              { type: 'MX', name: asked.name, data: { preference: 10, exchange: 'mail.example.com' }, ttl: 1 },
            ])
          : resolving(silent)(asked),
      servers: { '127.0.0.9': com, '127.0.0.2': refuse, '127.0.0.3': refuse },
    },
    { type: 'dns', host: 'example.com', record: 'MX' },
  );
  expect(document.names).toMatchObject({ name: 'example.com', record: 'MX', answers: ['10 mail.example.com'] });
});

test.concurrent('an address has no names, and a name without dots no servers', async () => {
  const resolver = silent;
  expect(await gather({ resolver, servers: {} }, { type: 'ping', host: '127.0.0.1' })).toMatchObject({ names: null });
  const { missing } = await gather({ resolver, servers: {} }, { type: 'tcp', host: 'shop:80' });
  expect(missing).toContainEqual({ part: 'names', reason: 'shop is no domain name' });
});

describe('a dns target with a resolver of its own', () => {
  const good = authoritative('192.0.2.1');
  const root = referTo('com', { 'ns.com': '127.0.0.9' });
  const servers = { '127.0.0.8': root, '127.0.0.9': com, '127.0.0.2': good, '127.0.0.3': good };

  /** The node's own resolver answers properly; the one that the check names is at 127.0.0.7. */
  async function gatherOver(handle: (asked: Asked) => void, more: object = {}) {
    const own: string[] = [];
    await using named = await nameServer(handle, '127.0.0.7');
    const document = await gather(
      {
        resolver(asked) {
          own.push(`${asked.type} ${asked.name}`);
          resolving((one) => one.answer([a(one.name, '192.0.2.1')]))(asked);
        },
        servers,
      },
      { type: 'dns', host: 'www.example.com', record: 'A', resolver: `127.0.0.7:${named.port}`, ...more },
    );
    return { document, own, named, server: `127.0.0.7:${named.port}` };
  }

  test.concurrent('is examined over that one, and the trail names it', async () => {
    const lying = resolving((asked) => asked.answer([a(asked.name, '203.0.113.9')]));
    const { document, own, server } = await gatherOver(lying);
    expect(document.names).toMatchObject({
      resolver: server,
      named: { server, protocol: 'udp' },
      answers: ['203.0.113.9'],
      delegation: [{ zone: 'com' }, { zone: 'example.com' }],
    });
    // Whether the node's own one answers is asked for its uplink, and the names of servers are the gate's.
    expect(own.filter((line) => line.includes('example.com'))).toEqual([]);
    expect(conclusions(document)).toEqual([
      `The resolver ${server} answers 203.0.113.9 for www.example.com, the authoritative servers 192.0.2.1.`,
    ]);
  });

  test.concurrent('is asked over the protocol of the check', async () => {
    const { document, named } = await gatherOver(
      resolving((asked) => asked.answer([a(asked.name, '192.0.2.1')])),
      { protocol: 'tcp', recursion: false },
    );
    expect(document.names).toMatchObject({ named: { protocol: 'tcp' }, answers: ['192.0.2.1'], failure: null });
    expect(
      new Set(named.queries.map(({ protocol, query }) => `${protocol} ${(query.flags ?? 0) & RECURSION_DESIRED}`)),
    ).toEqual(new Set(['tcp 0']));
  });

  test.concurrent.each([
    ['answers SERVFAIL', resolving((asked) => asked.answer([], { rcode: SERVFAIL }))],
    ['does not', silent],
  ])('that fails is told from the zone: it %s', async (words, handle) => {
    const { document, server } = await gatherOver(handle);
    expect(conclusions(document)).toEqual([
      `The authoritative servers of example.com answer, the resolver ${server} ${words}.`,
    ]);
  });

  const replyTo = (query: Buffer) => {
    const { id = 0, questions = [] } = decode(query);
    const answers = questions.map(({ name }) => a(name, '192.0.2.7'));
    return encode({ type: 'response', id, questions, answers });
  };
  const answerRequest = async (request: Readable, response: { end(bytes: Buffer): unknown }) =>
    response.end(replyTo(await buffer(request)));

  test.concurrent.each([
    [
      'tls',
      async (certificate: Issued) =>
        tlsServer(certificate, (socket) => {
          socket.on('data', (bytes: Buffer) => {
            const reply = replyTo(bytes.subarray(2));
            socket.write(Buffer.concat([Buffer.from([reply.length >> 8, reply.length & 0xff]), reply]));
          });
        }),
    ],
    [
      'https',
      async (certificate: Issued) =>
        serveHttps(certificate, (request, response) => {
          response.setHeader('content-type', 'application/dns-message');
          void answerRequest(request, response);
        }),
    ],
    [
      'https',
      async (certificate: Issued) =>
        serveHttp2(certificate, (request, response) => {
          response.setHeader('content-type', 'application/dns-message');
          void answerRequest(request, response);
        }),
    ],
  ] as const)('is asked over %s', async (protocol, serve) => {
    const authority = await issueAuthority();
    await using server = await serve(await issue({ names: ['dns.example'], ca: authority }));
    const { document } = await gatherOver(silent, {
      resolver: `dns.example:${server.port}`,
      protocol,
      tls: { ca: authority.cert },
    });
    expect(document.names).toMatchObject({
      resolver: `127.0.0.1:${server.port}`,
      named: { server: `dns.example:${server.port}`, protocol },
      answers: ['192.0.2.7'],
    });
    expect(conclusions(document)).toContain(
      `The resolver dns.example:${server.port} (127.0.0.1:${server.port}) answers 192.0.2.7 for www.example.com, the authoritative servers 192.0.2.1.`,
    );
  });

  test.concurrent('whose name leads nowhere is said to be so', async () => {
    const { document } = await gatherOver(silent, { resolver: 'gone.example' });
    expect(document.names).toMatchObject({
      resolver: null,
      named: { server: 'gone.example', protocol: 'udp' },
      answers: [],
      failure: expect.stringContaining('gone.example'),
    });
  });
});
