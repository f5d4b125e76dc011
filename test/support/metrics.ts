import { createLog } from '#kernel/log.ts';
import {
  createMetrics,
  type Metrics,
  type MetricsOptions,
  type MetricsSources,
  type RoundDone,
} from '#metrics/metrics.ts';
import type { ScrapeRequest } from '#metrics/scrape.ts';
import type { ExportedTarget } from '#metrics/target.ts';
import { FakeClock } from './fake-clock.ts';
import { nodeInfo, up, votes } from './votes.ts';

export const silentLog = createLog({ level: 'silent', pretty: false, fd: 2 });

/** Metrics of two nodes, an empty store and nothing to deliver; at 2026-01-01T00:00:00Z until the clock is moved. */
export function testMetrics(
  sources: Partial<MetricsSources> = {},
  clock = new FakeClock(),
  more: Partial<MetricsOptions> = {},
): Metrics {
  return createMetrics({
    ...more,
    clock,
    log: more.log ?? silentLog,
    version: '0.1.0',
    sources: {
      nodes: () => ['zz1', 'zz2'].map((name) => ({ info: nodeInfo(name), up: true, eventLoopLagSeconds: 0.001 })),
      deliveries: () => [],
      store: () => ({ bytes: 4096, queued: 0, unsealedSeconds: 0 }),
      budgets: () => [],
      lists: () => [],
      unreported: () => 0,
      lateness: () => ({ p50: 0, p99: 0, max: 0 }),
      ...sources,
    },
  });
}

/** What a scrape gives: by default that of somebody who is no Prometheus and does not mind the format. */
export async function textOf(metrics: Metrics, asked: Partial<ScrapeRequest> = {}): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of metrics.scrape({ scraper: null, ...asked }).body) parts.push(Buffer.from(part));
  return Buffer.concat(parts).toString();
}

export function watched(name: string, more: Partial<ExportedTarget> = {}): ExportedTarget {
  return {
    name,
    check: 'http',
    host: 'https://shop.example.com/health',
    labels: {},
    intervalSeconds: 30,
    rules: [{ name: 'down', severity: 'critical' }],
    ...more,
  };
}

export const startOfTest = Date.parse('2026-01-01T00:00:00Z');

export function round(target: string, more: Partial<RoundDone> = {}): RoundDone {
  return {
    target,
    check: 'http',
    votes: votes(up(), up()),
    verdict: { status: 'up' },
    dueAt: startOfTest,
    startedAt: startOfTest,
    ...more,
  };
}
