import { describe, expect, test } from 'vitest';
import { conclude, type NodeEvidence } from '#checks/evidence/conclusions.ts';
import type { EvidenceDocument } from '#checks/evidence/detail.ts';
import type { PathHop, PathTrace } from '#checks/path/path-trace.ts';

const now = Date.parse('2026-11-23T12:00:00Z');

const nothing: EvidenceDocument = {
  path: null,
  names: null,
  tls: null,
  response: null,
  received: null,
  uplink: null,
  missing: [],
};

type Given = Partial<Omit<NodeEvidence, 'document' | 'lastGood'>> & {
  readonly document?: Partial<EvidenceDocument>;
  readonly lastGood?: Partial<EvidenceDocument> | null;
};

function evidence({ document, lastGood = null, ...given }: Given = {}): NodeEvidence {
  return {
    node: 'de1',
    isFailing: true,
    failure: 'timeout',
    document: { ...nothing, ...document },
    lastGood: lastGood === null ? null : { ...nothing, ...lastGood },
    ...given,
  };
}

const conclusionsOf = (...given: readonly Given[]) => conclude(given.map(evidence), now);
const textsOf = (...given: readonly Given[]) => conclusionsOf(...given).map(({ text }) => text);

type ProbeKind = PathHop['probes'][number]['kind'];

function hop(number: number, address: string | null, kind: ProbeKind = 'time_exceeded', as?: number): PathHop {
  return {
    hop: number,
    probes: [{ address, seconds: address === null ? null : 0.01, kind: address === null ? 'none' : kind }],
    ...(as !== undefined && { as: { number: as, name: `AS ${as}` } }),
  };
}

function path(end: PathTrace['end'], hops: readonly PathHop[], given: Partial<PathTrace> = {}): PathTrace {
  return { protocol: 'tcp', port: 443, address: '192.0.2.1', family: 4, hops: [...hops], end, mtu: null, ...given };
}

const reached = path('reached', [hop(1, '10.0.0.1'), hop(2, '192.0.2.1', 'connected')]);
const cut = path('silent', [hop(1, '10.0.0.1'), hop(7, '198.51.100.9', 'time_exceeded', 64_500), hop(8, null)]);

test('without evidence nothing is concluded', () => {
  expect(conclude([], now)).toEqual([]);
  expect(conclusionsOf({}, { node: 'us1', isFailing: false })).toEqual([]);
});

describe('the path', () => {
  test('ends at a router while other nodes get through', () => {
    const healthy = { node: 'us1', isFailing: false, document: { path: reached } };
    expect(conclusionsOf({ document: { path: cut } }, { node: 'fr1', document: { path: cut } }, healthy)).toEqual([
      {
        rule: 'path-ends',
        text: 'Packets from de1 and fr1 end after 198.51.100.9 (AS64500, hop 7); us1 gets through.',
      },
    ]);
  });

  test('of a healthy node that ends as well proves nothing', () => {
    const healthy = { node: 'us1', isFailing: false, document: { path: cut } };
    expect(conclusionsOf({ document: { path: cut } }, healthy)).toEqual([]);
  });

  test('ends at the same router for all that reached the target before', () => {
    const given = (node: string) => ({ node, document: { path: cut }, lastGood: { path: reached } });
    expect(textsOf(given('de1'), given('fr1'))).toEqual([
      'Packets from de1 and fr1 end after 198.51.100.9 (AS64500, hop 7), the same router for all; the last good paths reached the target.',
    ]);
    expect(textsOf(given('de1'))).toEqual([
      'Packets from de1 end after 198.51.100.9 (AS64500, hop 7); the last good path reached the target.',
    ]);
    const udp = { lastGood: { path: { ...reached, protocol: 'udp' as const } } };
    expect(textsOf({ ...given('de1'), ...udp })).toEqual([]);
  });

  test('more than three nodes are counted', () => {
    const failing = ['a', 'b', 'c', 'd'].map((node) => ({ node, document: { path: cut } }));
    const healthy = ['y', 'z'].map((node) => ({ node, isFailing: false, document: { path: reached } }));
    expect(textsOf(...failing, ...healthy)).toEqual([
      'Packets from 4 nodes end after 198.51.100.9 (AS64500, hop 7); y and z get through.',
    ]);
  });

  test('is rejected by a router', () => {
    const rejected = path('rejected', [hop(1, '10.0.0.1'), hop(2, '10.1.0.2', 'prohibited')]);
    expect(conclusionsOf({ document: { path: rejected } })).toEqual([
      { rule: 'path-rejected', text: 'The router 10.1.0.2 (hop 2) rejects packets from de1: they are prohibited.' },
    ]);
    const unreachable = path('rejected', [hop(2, '10.1.0.2', 'unreachable')]);
    expect(textsOf({ document: { path: unreachable } })).toEqual([
      'The router 10.1.0.2 (hop 2) reports to de1 that the target is unreachable.',
    ]);
    // What the target itself says is no router's doing.
    expect(textsOf({ document: { path: path('rejected', [hop(2, '192.0.2.1', 'prohibited')]) } })).toEqual([]);
  });

  test('loops', () => {
    const loop = path('loop', [hop(1, '10.0.0.1'), hop(2, 'fd00::2'), hop(3, 'fd00::3'), hop(4, 'fd00::2')]);
    expect(conclusionsOf({ document: { path: loop } })).toEqual([
      { rule: 'path-loop', text: 'Packets from de1 loop between fd00::2 and fd00::3.' },
    ]);
    const still = path('loop', [hop(1, '10.0.0.1'), hop(2, 'fd00::2'), hop(3, 'fd00::2')]);
    expect(textsOf({ document: { path: still } })).toEqual([]);
  });

  test('reaches a target that refuses the port', () => {
    const refused = path('reached', [hop(1, '10.0.0.1'), hop(2, '192.0.2.1', 'refused')]);
    expect(conclusionsOf({ failure: 'refused', document: { path: refused } })).toEqual([
      { rule: 'path-refused', text: 'Packets from de1 reach 192.0.2.1, which refuses TCP port 443.' },
    ]);
    // A trace over UDP ends with "port unreachable" as a rule.
    const udp = path('reached', [hop(2, '192.0.2.1', 'port_unreachable')], { protocol: 'udp', port: 53 });
    expect(textsOf({ failure: 'timeout', document: { path: udp } })).toEqual([]);
    expect(textsOf({ failure: 'refused', document: { path: udp } })).toEqual([
      'Packets from de1 reach 192.0.2.1, which refuses UDP port 53.',
    ]);
    const middlebox = path('reached', [hop(2, '10.1.0.2', 'refused')]);
    expect(textsOf({ failure: 'refused', document: { path: middlebox } })).toEqual([]);
  });

  test('reaches a target that accepts connections', () => {
    expect(textsOf({ document: { path: reached }, lastGood: { path: reached } })).toEqual([
      'Packets from de1 reach 192.0.2.1 now, as on the last good path, and TCP port 443 accepts connections.',
    ]);
    expect(textsOf({ document: { path: reached } })).toEqual([
      'Packets from de1 reach 192.0.2.1 now, and TCP port 443 accepts connections.',
    ]);
    expect(textsOf({ failure: 'status', document: { path: reached } })).toEqual([]);
  });

  test('leads through another network than before', () => {
    const through = (as: number) =>
      path('reached', [hop(1, '10.0.0.1', 'time_exceeded', as), hop(2, '192.0.2.1', 'connected', 64_499)]);
    const changed = {
      failure: 'status' as const,
      document: { path: through(64_501) },
      lastGood: { path: through(64_500) },
    };
    expect(conclusionsOf(changed)).toEqual([
      { rule: 'path-changed', text: 'The path from de1 changed: it leads through AS64501 instead of AS64500.' },
    ]);
    expect(textsOf({ ...changed, document: { path: through(64_500) } })).toEqual([]);
    expect(textsOf({ ...changed, lastGood: { path: reached } })).toEqual([]);
  });

  test('loses large packets', () => {
    const large = (result: 'passed' | 'too_big' | 'lost', last: number | null = null) => ({
      path: { ...reached, large: { result, last_hop: last } },
    });
    const healthy = { node: 'us1', isFailing: false, document: large('passed') };
    const failing = { failure: 'status' as const, document: large('lost', 1) };
    const text = (where: string) =>
      `Small packets from de1 reach the target, packets of 1500 bytes vanish${where} without a message (MTU black hole).`;
    expect(conclusionsOf(failing, healthy)).toEqual([{ rule: 'path-mtu', text: text(' after 10.0.0.1 (hop 1)') }]);
    expect(textsOf({ ...failing, document: large('lost') }, healthy)).toEqual([text('')]);
    expect(textsOf({ ...failing, lastGood: large('passed') })).toEqual([text(' after 10.0.0.1 (hop 1)')]);
    // Perhaps it never answers large ones.
    expect(textsOf(failing)).toEqual([]);
    expect(textsOf({ ...failing, document: large('too_big') }, healthy)).toEqual([]);
  });
});

const server = (given: object = {}) => ({
  name: 'ns1.example.com',
  address: '192.0.2.53',
  answer: ['192.0.2.1'],
  failure: null,
  authoritative: true,
  rcode: 'NOERROR',
  ...given,
});

const names = (given: Partial<NonNullable<EvidenceDocument['names']>>, servers: object[] = [{}]) => ({
  names: {
    name: 'www.example.com',
    record: 'A',
    resolver: '10.0.0.53',
    answers: [],
    failure: null,
    rcode: 'NOERROR',
    delegation: [{ zone: 'example.com', servers: servers.map(server) }],
    ...given,
  },
});

describe('names', () => {
  test('that authoritative servers answer and the resolver does not', () => {
    expect(conclusionsOf({ document: names({ rcode: null, failure: 'no answer' }) })).toEqual([
      {
        rule: 'resolver-fails',
        text: 'The authoritative servers of example.com answer, the resolver of de1 (10.0.0.53) does not.',
      },
    ]);
    const fails = (node: string) => ({ node, document: names({ rcode: 'SERVFAIL' }) });
    expect(textsOf(fails('de1'), fails('fr1'))).toEqual([
      'The authoritative servers of example.com answer, the resolvers of de1 and fr1 answer SERVFAIL.',
    ]);
    expect(
      textsOf({ document: names({ rcode: 'SERVFAIL' }, [{ answer: null, rcode: null, failure: 'x' }, {}]) }),
    ).toHaveLength(1);
    expect(textsOf({ document: names({ answers: ['192.0.2.1'] }) })).toEqual([]);
  });

  test('for which the resolver gives another answer', () => {
    expect(conclusionsOf({ document: names({ answers: ['203.0.113.9'] }) })).toEqual([
      {
        rule: 'resolver-contradicts',
        text: 'The resolver of de1 (10.0.0.53) answers 203.0.113.9 for www.example.com, the authoritative servers 192.0.2.1.',
      },
    ]);
    expect(textsOf({ document: names({ answers: ['203.0.113.9'] }, [{ answer: ['alias.example.net'] }]) })).toEqual([]);
    // Some zones always answer so.
    const given = names({ answers: ['203.0.113.9'] });
    expect(textsOf({ document: given, lastGood: names({ answers: ['203.0.113.8'] }) })).toEqual([]);
    expect(textsOf({ document: given }, { node: 'us1', isFailing: false, document: given })).toEqual([]);
    // Servers that contradict each other give each client an answer of its own.
    expect(textsOf({ document: names({ answers: ['203.0.113.9'] }, [{}, { answer: ['192.0.2.2'] }]) })).toEqual([]);
  });

  test('of a resolver that the check names, which is the same for all nodes', () => {
    const named = { server: '192.0.2.7', protocol: 'udp' } as const;
    const at = (node: string, given: object, server = '192.0.2.7') => ({
      node,
      document: names({ resolver: '192.0.2.7', named: { ...named, server }, ...given }),
    });
    const silent = { rcode: null, failure: 'no answer' };
    const fails = 'The authoritative servers of example.com answer, the resolver 192.0.2.7';
    expect(textsOf(at('de1', silent), at('fr1', silent))).toEqual([`${fails} does not.`]);
    const right = at('us1', { answers: ['192.0.2.1'] });
    expect(textsOf(at('de1', { rcode: 'SERVFAIL' }), at('fr1', { rcode: 'SERVFAIL' }), right)).toEqual([
      `${fails} answers SERVFAIL, seen from de1 and fr1.`,
    ]);
    const lie = { answers: ['203.0.113.9'] };
    expect(textsOf(at('de1', lie, 'dns.example'), at('fr1', lie, 'dns.example'))).toEqual([
      'The resolver dns.example (192.0.2.7) answers 203.0.113.9 for www.example.com, the authoritative servers 192.0.2.1.',
    ]);
  });

  test('that do not exist', () => {
    const denial = { answer: [], rcode: 'NXDOMAIN' };
    expect(conclusionsOf({ document: names({ rcode: 'NXDOMAIN' }, [denial, denial]) })).toEqual([
      {
        rule: 'name-missing',
        text: 'The authoritative servers of example.com answer that www.example.com does not exist.',
      },
    ]);
    expect(conclusionsOf({ document: names({ rcode: 'NXDOMAIN' }, [denial, {}]) })).not.toContainEqual(
      expect.objectContaining({ rule: 'name-missing' }),
    );
  });

  test('with a lame delegation', () => {
    const lame = { name: 'ns2.example.com', answer: null, authoritative: false, rcode: 'REFUSED' };
    expect(conclusionsOf({ document: names({ answers: ['192.0.2.1'] }, [{}, lame]) })).toEqual([
      {
        rule: 'lame-delegation',
        text: 'The name server ns2.example.com is listed for example.com and does not answer with authority (REFUSED).',
      },
    ]);
    const before = names({ answers: ['192.0.2.1'] }, [{}, lame]);
    expect(textsOf({ document: before, lastGood: before })).toEqual([]);
    const silent = { ...lame, rcode: null, failure: 'no answer' };
    expect(textsOf({ document: names({ answers: ['192.0.2.1'] }, [{}, silent]) })).toEqual([]);
  });

  test('whose servers are all silent', () => {
    const silent = { answer: null, authoritative: false, rcode: null, failure: 'no answer' };
    expect(
      textsOf({ document: names({ rcode: 'SERVFAIL' }, [silent, { ...silent, name: 'ns2.example.com' }]) }),
    ).toEqual(['None of the authoritative servers of example.com answers de1 (ns1.example.com and ns2.example.com).']);
    expect(textsOf({ document: names({ rcode: 'SERVFAIL' }, [silent, { ...silent, address: null }]) })).toEqual([]);
  });

  test('of a domain that is gone', () => {
    const registration = { domain: 'example.com', registered: true, expiresAt: null, status: [], failure: null };
    const given = (changes: object) => ({
      document: names({ rcode: 'NXDOMAIN', delegation: [], registration: { ...registration, ...changes } }),
    });
    expect(textsOf(given({ registered: false }))).toEqual(['The domain example.com is not registered.']);
    expect(textsOf(given({ expiresAt: '2026-11-01T00:00:00Z' }))).toEqual([
      'The domain example.com expired on 2026-11-01.',
    ]);
    expect(textsOf(given({ status: ['redemption period'] }))).toEqual([
      'The domain example.com has expired: its status is "redemption period".',
    ]);
    expect(textsOf(given({ expiresAt: '2027-11-01T00:00:00Z' }))).toEqual([]);
    expect(textsOf(given({ registered: null, failure: 'no answer' }))).toEqual([]);
  });
});

const certificate = (given: object = {}) => ({
  subject: 'CN=www.example.com',
  issuer: 'CN=Example CA 2',
  notBefore: '2026-01-01T00:00:00.000Z',
  notAfter: '2027-01-01T00:00:00.000Z',
  names: ['www.example.com'],
  ...given,
});
const intermediate = (given: object = {}) =>
  certificate({ subject: 'C=DE, CN=Example CA 2', issuer: 'CN=Example Root', names: [], ...given });

const tls = (given: Partial<NonNullable<EvidenceDocument['tls']>>) => ({
  tls: {
    address: '192.0.2.1',
    protocol: 'TLSv1.3',
    chain: [certificate(), intermediate()],
    alert: null,
    failure: null,
    versions: [],
    serverName: 'www.example.com',
    isForName: true,
    problem: null,
    ...given,
  },
});

describe('TLS', () => {
  test('with a good chain', () => {
    expect(textsOf({ failure: 'tls', document: tls({}) })).toEqual([]);
  });

  test.each([
    ['2026-11-22T23:00:00.000Z', 'The intermediate certificate "Example CA 2" expired yesterday.'],
    ['2026-11-23T11:00:00.000Z', 'The intermediate certificate "Example CA 2" expired today.'],
    ['2026-10-01T11:00:00.000Z', 'The intermediate certificate "Example CA 2" expired on 2026-10-01.'],
  ])('with an intermediate certificate that expired at %s', (notAfter, text) => {
    expect(
      textsOf({
        failure: 'tls',
        document: tls({ chain: [certificate(), intermediate({ notAfter })], problem: 'CERT_HAS_EXPIRED' }),
      }),
    ).toEqual([text]);
    // One that is not needed keeps no chain from being trusted.
    expect(textsOf({ failure: 'tls', document: tls({ chain: [certificate(), intermediate({ notAfter })] }) })).toEqual(
      [],
    );
  });

  test('with a certificate of another time', () => {
    expect(
      textsOf({ failure: 'tls', document: tls({ chain: [certificate({ notAfter: '2026-11-01T00:00:00.000Z' })] }) }),
    ).toEqual(['The certificate of www.example.com expired on 2026-11-01.']);
    expect(
      textsOf({ failure: 'tls', document: tls({ chain: [certificate({ notBefore: '2026-12-01T00:00:00.000Z' })] }) }),
    ).toEqual(['The certificate of www.example.com is not valid before 2026-12-01T00:00:00.000Z.']);
  });

  test('without the certificate of the issuer', () => {
    const problem = 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
    expect(textsOf({ failure: 'tls', document: tls({ chain: [certificate()], problem }) })).toEqual([
      'The server sends its certificate without that of its issuer "Example CA 2", which the node does not know.',
    ]);
    expect(textsOf({ failure: 'tls', document: tls({ chain: [certificate()] }) })).toEqual([]);
  });

  test('with a certificate for other names', () => {
    const chain = [certificate({ names: ['a.example', 'b.example', 'c.example', 'd.example'] })];
    expect(textsOf({ failure: 'tls', document: tls({ chain, isForName: false }) })).toEqual([
      'The certificate is not for www.example.com but for a.example, b.example, c.example and 1 more.',
    ]);
  });

  test('with a certificate of an unknown authority', () => {
    expect(textsOf({ failure: 'tls', document: tls({ problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' }) })).toEqual([
      'The certificate is self-signed.',
    ]);
    expect(textsOf({ failure: 'tls', document: tls({ problem: 'SELF_SIGNED_CERT_IN_CHAIN' }) })).toEqual([
      'The certificate is issued by "Example CA 2", an authority that the node does not trust.',
    ]);
  });

  test('of a version that is not accepted', () => {
    const versions = [
      { version: 'TLS 1.2', accepted: true, failure: null },
      { version: 'TLS 1.3', accepted: false, failure: 'alert' },
    ];
    const refused = tls({ chain: [], failure: 'TLS handshake failed', versions });
    expect(textsOf({ failure: 'tls', document: refused })).toEqual(['The server accepts TLS 1.2 and refuses TLS 1.3.']);
    expect(textsOf({ failure: 'tls', document: tls({ versions }) })).toEqual([]);
  });

  test('is no cause of a failure behind it', () => {
    const document = tls({ problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
    expect(textsOf({ failure: 'status', document })).toEqual([]);
    expect(textsOf({ failure: 'certificate_untrusted', document })).toEqual(['The certificate is self-signed.']);
  });

  test('that ends with an alert', () => {
    const given = { chain: [], failure: 'TLS handshake failed', alert: 'handshake failure' };
    expect(textsOf({ failure: 'tls', document: tls(given) })).toEqual([
      'The server ends the TLS handshake with the alert "handshake failure".',
    ]);
    expect(textsOf({ failure: 'tls', document: tls({ ...given, alert: null }) })).toEqual([]);
  });

  test('that differs between nodes names those that see it', () => {
    const bad = { failure: 'tls' as const, document: tls({ problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' }) };
    expect(textsOf(bad, { node: 'fr1', failure: 'tls', document: tls({}) })).toEqual([
      'The certificate is self-signed, seen from de1.',
    ]);
  });
});

const response = (status: string, given: Partial<NonNullable<EvidenceDocument['response']>> = {}) => ({
  response: { status, headers: [], body: null, bodyBytes: null, redirects: [], failure: null, isWhole: true, ...given },
});

describe('responses', () => {
  test('with another status than before', () => {
    const document = response('503 Service Unavailable', { body: '<html><title>Down for\\n maintenance</title>' });
    expect(textsOf({ failure: 'status', document, lastGood: response('200 OK') })).toEqual([
      'The server answers 503 Service Unavailable with the title "Down for maintenance"; the last good answer was 200 OK.',
    ]);
    expect(textsOf({ failure: 'status', document })).toEqual([]);
    expect(textsOf({ failure: 'header', document: response('200 OK'), lastGood: response('200 OK') })).toEqual([]);
  });

  test('that another server than before gives instead', () => {
    const document = response('403 Forbidden', { headers: [['via', '1.1 proxy (squid)']] });
    const healthy = { node: 'us1', isFailing: false, document: response('200 OK') };
    expect(conclusionsOf({ failure: 'status', document }, healthy)).toEqual([
      {
        rule: 'response-blocked',
        text: 'de1 gets 403 Forbidden with the via header "1.1 proxy (squid)"; us1 gets 200.',
      },
    ]);
    expect(textsOf({ failure: 'status', document })).toEqual([]);
    const same = response('200 OK', { headers: [['via', '1.1 proxy (squid)']] });
    expect(textsOf({ failure: 'status', document, lastGood: same })).toEqual([
      'The server answers 403 Forbidden; the last good answer was 200 OK.',
    ]);
  });

  test('that lead elsewhere', () => {
    const document = response('302 Found', { headers: [['location', 'https://login.example/?a=b']] });
    expect(textsOf({ failure: 'body', document, lastGood: response('200 OK') })).toEqual([
      'The server redirects to login.example, which it did not in the last good answer.',
    ]);
    expect(textsOf({ failure: 'body', document, lastGood: document })).toEqual([]);
  });

  test('that end early', () => {
    const given = { headers: [['content-length', '2048']] as [string, string][], bodyBytes: 512, isWhole: false };
    expect(textsOf({ failure: 'closed', document: response('200 OK', { ...given, failure: 'closed' }) })).toEqual([
      'The response ends after 512 of 2048 bytes.',
    ]);
    expect(textsOf({ failure: 'body', document: response('200 OK', given) })).toEqual([]);
    const coded = {
      ...given,
      failure: 'closed',
      headers: [...given.headers, ['content-encoding', 'gzip']] as [string, string][],
    };
    expect(textsOf({ failure: 'closed', document: response('200 OK', coded) })).toEqual([]);
  });

  test('with another title', () => {
    const titled = (title: string) => response('200 OK', { body: `<title>${title}</title>` });
    expect(textsOf({ failure: 'body', document: titled('Parked'), lastGood: titled('Shop') })).toEqual([
      'The title of the page is "Parked"; in the last good answer it was "Shop".',
    ]);
    expect(textsOf({ failure: 'body', document: titled('Shop'), lastGood: titled('Shop') })).toEqual([]);
  });
});

describe('what was received', () => {
  const received = (given: Partial<NonNullable<EvidenceDocument['received']>>) => ({
    document: {
      received: { bytes: 0, text: '', closed: false, failure: 'no answer within 5s', isSilent: true, ...given },
    },
  });

  test.each([
    [{ bytes: 27 }, 'The server sends 27 bytes and then nothing more.'],
    [{}, 'The server accepts the connection and sends nothing.'],
    [{ closed: true, isSilent: false }, 'The server accepts the connection and closes it without sending a byte.'],
  ])('%j', (given, text) => {
    expect(textsOf(received(given))).toEqual([text]);
  });

  test.each([
    { failure: null },
    { bytes: 5, closed: true, isSilent: false },
    { isSilent: false },
    { protocol: 'udp' as const },
  ])('proves nothing: %j', (given) => {
    expect(textsOf(received(given))).toEqual([]);
  });
});

describe('the uplink of a node', () => {
  const silent = path('silent', [hop(1, '10.0.0.1'), hop(2, null), hop(3, null)]);
  const gateway = { address: '10.0.0.1', reached: false, seconds: null };
  const uplink = { gateway, resolver: null, references: [] };

  test('that is down takes the node out of all other conclusions', () => {
    const document = { uplink, path: silent, ...tls({ problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' }) };
    expect(conclusionsOf({ document })).toEqual([
      {
        rule: 'uplink-gateway',
        text: 'The gateway of de1 (10.0.0.1) does not answer, so nothing about the target is concluded from there.',
      },
    ]);
  });

  test('of which a gateway gives no sign although packets get through is no cause', () => {
    expect(textsOf({ failure: 'status', document: { uplink, path: reached } })).toEqual([]);
    expect(conclusionsOf({ document: { uplink, path: cut } }).map(({ rule }) => rule)).not.toContain('uplink-gateway');
  });

  test('is not down while a router behind the gateway answers: what fails with the target lies further away', () => {
    const references = ['a.example', 'b.example'].map((name) => ({ name, reached: false }));
    const given = { gateway: null, resolver: { address: '10.0.0.53', answered: false }, references };
    expect(conclusionsOf({ document: { uplink: given, path: silent } }).map(({ rule }) => rule)).toContain(
      'uplink-down',
    );
    expect(conclusionsOf({ document: { uplink: given, path: cut } }).map(({ rule }) => rule)).not.toContain(
      'uplink-down',
    );
  });

  test('is down if neither the resolver nor references answer', () => {
    const references = [
      { name: 'a.example', reached: false },
      { name: 'b.example', reached: false },
    ];
    const given = { gateway: null, resolver: { address: '10.0.0.53', answered: false }, references };
    expect(textsOf({ document: { uplink: given } })).toEqual([
      'The uplink of de1 is down: neither the resolver nor a.example and b.example can be reached.',
    ]);
    const mixed = { ...given, references: [references[0], { name: 'b.example', reached: true }] };
    expect(textsOf({ document: { uplink: mixed as typeof given } })).toEqual([]);
    expect(textsOf({ document: { uplink: { ...given, references: [] } } })).toEqual([]);
  });
});

test('at most three are stated', () => {
  const document = {
    path: path('rejected', [hop(2, '10.1.0.2', 'prohibited')]),
    ...names({ answers: ['203.0.113.9'] }),
    ...tls({ problem: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
    received: { bytes: 3, text: 'abc', closed: false, failure: 'late', isSilent: true },
  };
  expect(conclusionsOf({ failure: 'tls', document }).map(({ rule }) => rule)).toEqual([
    'resolver-contradicts',
    'path-rejected',
    'issuer-untrusted',
  ]);
});
