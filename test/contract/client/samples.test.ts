import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CheckSpec, type Outcome } from '#checks/index.ts';
import { createClient } from '#client/client.ts';
import { systemClock } from '#kernel/clock.ts';
import { replayService } from '../../support/fake-service.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { seededRandom } from '../../support/seeded-random.ts';

interface Sample {
  readonly check: string;
  readonly kind: string;
  readonly sample: unknown;
}

const samples = JSON.parse(
  readFileSync(new URL('../../fixtures/samples.json', import.meta.url), 'utf8'),
) as readonly Sample[];

const hosts: Readonly<Record<string, string>> = {
  ping: 'example.com',
  http: 'http://example.com',
  tcp: 'example.com:80',
  udp: 'example.com:53',
};

async function askFor(type: string, results: readonly Readonly<Record<string, unknown>>[]) {
  await using service = await replayService(results);
  const client = createClient({
    url: service.url,
    token: null,
    budget: { count: 60, perMs: 60_000 },
    clock: systemClock,
    random: seededRandom(),
    log: memoryLog().log,
  });
  try {
    const spec = CheckSpec.parse({ type, host: hosts[type] });
    return await client.run({ spec, nodes: { kind: 'all' } }, new AbortController().signal);
  } finally {
    client.close();
  }
}

const rows = samples.filter(({ kind }) => kind.startsWith('node '));
const results = samples.filter(({ kind }) => kind.startsWith('result'));

function said(outcome: Outcome): string {
  return outcome.status === 'up' ? 'up' : `${outcome.status}: ${outcome.failure.source} ${outcome.failure.code}`;
}

test('there are samples of both kinds', () => {
  expect(rows.length).toBeGreaterThan(10);
  expect(results.length).toBeGreaterThan(5);
});

test('every captured row of a node becomes an outcome, and a fault of a node is never an outage', async () => {
  const told: Record<string, string[]> = {};
  for (const type of ['ping', 'http', 'tcp', 'udp']) {
    const own = rows.filter(({ check }) => check === type);
    const map = Object.fromEntries(own.map(({ sample }, index) => [`us${index + 1}.node.example.net`, sample]));
    const { votes } = await askFor(type, [map]);
    expect(votes).toHaveLength(own.length);
    told[type] = votes.map(({ outcome }) => said(outcome));
  }
  expect(told).toEqual({
    ping: [
      'up',
      'down: target timeout',
      'up',
      'up',
      'down: target timeout',
      'unknown: node internal',
      'unknown: node internal',
    ],
    http: ['up', 'up', 'down: target status', 'down: target name_not_found', 'unknown: node internal'],
    tcp: ['down: target timeout', 'up'],
    udp: ['unknown: node local'],
  });
});

test.each(results.map((sample, index) => ({ ...sample, index })))(
  'the $kind $index of $check is read',
  async ({ check, sample, kind }) => {
    const map = (kind === 'result-extended' ? (sample as { results: unknown }).results : sample) as Record<
      string,
      unknown
    >;
    const type = check.split(' ')[0] ?? '';
    const { votes, reportUrl } = await askFor(type, [map]);
    expect(votes.map(({ node }) => `${node.name}.node.check-host.net`)).toEqual(Object.keys(map));
    for (const { outcome } of votes) {
      if (type === 'udp') expect(said(outcome)).toBe('unknown: target silent');
      else expect(outcome).toMatchObject({ status: 'up', seconds: expect.any(Number) });
    }
    expect(reportUrl).toMatch(/\/check-report\/23d5abc$/);
  },
);
