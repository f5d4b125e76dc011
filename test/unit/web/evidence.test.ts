import { expect, test } from 'vitest';
import type { EvidenceDocument } from '#checks/index.ts';
import type { GatheredEvidence } from '#history/evidence.ts';
import { evidenceSection, lineDifference, pathRows } from '#web/pages/evidence.ts';

type Path = NonNullable<EvidenceDocument['path']>;

const hop = (number: number, address: string | null, seconds: number | null = null): Path['hops'][number] => ({
  hop: number,
  probes: [{ address, seconds, kind: address === null ? 'none' : 'time_exceeded' }],
});

const path = (...hops: Path['hops']): Path => ({
  protocol: 'tcp',
  port: 443,
  address: '192.0.2.80',
  family: 4,
  hops,
  end: 'silent',
  mtu: null,
});

const document: EvidenceDocument = {
  path: path(hop(1, '10.0.0.1', 0.001), hop(2, null)),
  names: null,
  tls: null,
  response: {
    status: '503 <b>Unavailable</b>',
    headers: [['server', '<script>alert(1)</script>']],
    body: '<img src=x onerror=alert(1)>',
    bodyBytes: 20,
    redirects: ['https://a.example/<i>'],
    failure: null,
  },
  received: { bytes: 3, text: '<u>', closed: true, failure: null },
  uplink: null,
  missing: [{ part: 'names', reason: '<s>no time</s>' }],
};

const one: GatheredEvidence = {
  at: Date.parse('2026-01-05T08:00:00Z'),
  occasion: 'opened',
  node: 'de1',
  isFailing: true,
  failure: 'timeout',
  document,
  lastGood: null,
  note: null,
};

test('a path stands beside the last good one, hop by hop', () => {
  const now = path(hop(1, '10.0.0.1', 0.001), hop(2, null));
  const good = path(hop(1, '10.0.0.1', 0.002), hop(2, '198.51.100.9', 0.01), hop(3, '192.0.2.80', 0.02));
  expect(pathRows(now, null)).toEqual([
    ['1', '10.0.0.1 1 ms'],
    ['2', 'no reply'],
  ]);
  expect(pathRows(now, good)).toEqual([
    ['1', '10.0.0.1 1 ms', '10.0.0.1 2 ms'],
    ['2', 'no reply', '198.51.100.9 10 ms'],
    ['3', '', '192.0.2.80 20 ms'],
  ]);
});

test('of two responses the lines are shown that differ', () => {
  expect(lineDifference(['200 OK', 'server: a', '', 'fine'], ['503 No', 'server: a', 'age: 1', '', 'sorry'])).toEqual([
    '- 200 OK',
    '+ 503 No',
    '+ age: 1',
    '- fine',
    '+ sorry',
  ]);
  expect(lineDifference(['a'], ['a'])).toEqual([]);
  expect(lineDifference([], ['a'])).toEqual(['+ a']);
});

test('nothing of a target becomes markup', () => {
  const page = String(evidenceSection([one]));
  for (const foreign of ['<b>', '<script>', '<img', '<i>', '<u>', '<s>']) expect(page).not.toContain(foreign);
  expect(page).toContain('&lt;script&gt;');
});

test('the registration of a domain and the size of packets that get through are shown', () => {
  const registration = {
    domain: 'shop.example',
    registered: true,
    expiresAt: '2026-01-04T00:00:00Z',
    status: ['redemption period'],
    failure: null,
  };
  const names = { resolver: '10.0.0.53', answers: [], failure: null, rcode: 'NXDOMAIN', delegation: [], registration };
  const lost = { ...path(hop(1, '10.0.0.1', 0.001)), mtu: 1_400, large: { result: 'lost', last_hop: 3 } as const };
  const pageOf = (changes: Partial<EvidenceDocument>) =>
    String(evidenceSection([{ ...one, document: { ...document, ...changes } }]));
  const page = pageOf({ names, path: lost });
  expect(page).toContain('Registration of shop.example: registered, until 2026-01-04, redemption period');
  expect(page).toContain('path MTU 1400 bytes, packets of 1500 bytes are lost after hop 3, without an error message');
  const gone = { ...registration, registered: false, expiresAt: null, status: [] };
  expect(pageOf({ names: { ...names, registration: gone } })).toContain('shop.example: not registered');
  const unknown = { ...gone, registered: null, failure: 'no <answer>' };
  expect(pageOf({ names: { ...names, registration: unknown } })).toContain('shop.example: no &lt;answer&gt;');
});

test('a note says why nothing was gathered, and without evidence there is no section', () => {
  expect(String(evidenceSection([]))).toBe('');
  const note = { ...one, node: '', document: null, note: 'sixty <targets> fail' };
  expect(String(evidenceSection([note]))).toContain('sixty &lt;targets&gt; fail');
});
