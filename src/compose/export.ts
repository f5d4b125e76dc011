import { hostname } from 'node:os';
import { createReplaceablePart } from '#compose/replaceable-part.ts';
import type { Config } from '#config/config.ts';
import { startOtlp } from '#export/otlp.ts';
import { startResultFile } from '#export/result-file.ts';
import { type ExportedRound, resultLines } from '#export/result-lines.ts';
import { startResultWebhook } from '#export/result-webhook.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Log } from '#kernel/log.ts';
import type { Random } from '#kernel/random.ts';
import type { Metrics } from '#metrics/metrics.ts';

export interface ExportParts {
  readonly metrics: Pick<Metrics, 'otlp' | 'exports'>;
  readonly version: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** What sends results and metrics elsewhere, as the configuration in force says. */
export interface Exports extends AsyncDisposable {
  /** Goes on as another configuration says; what waits is not lost. */
  update(next: Config): void;
  roundDone(round: ExportedRound): void;
}

export function startExports(config: Config, { metrics, version, clock, random, log }: ExportParts): Exports {
  const parts = { clock, random, log, events: metrics.exports };
  const file = createReplaceablePart(config.export.file, (of) => startResultFile({ ...of, ...parts }));
  const webhook = createReplaceablePart(config.export.webhook, (of) => startResultWebhook({ ...of, ...parts }));
  const otlp = createReplaceablePart(
    { otlp: config.export.otlp, hub: config.hubs?.name ?? null },
    ({ otlp: of, hub }) =>
      of === null
        ? null
        : startOtlp({ ...of, ...parts, collect: () => metrics.otlp(resourceOf(of.resource, version, hub)) }),
  );
  const all = [file, webhook, otlp];
  return {
    update(next) {
      file.update(next.export.file);
      webhook.update(next.export.webhook);
      otlp.update({ otlp: next.export.otlp, hub: next.hubs?.name ?? null });
    },
    roundDone(round) {
      const sinks = [file.current(), webhook.current()].filter((sink) => sink !== null);
      if (sinks.length === 0) return;
      const lines = resultLines(round);
      for (const sink of sinks) sink.add(lines);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(all.map(async (one) => one.stop()));
    },
  };
}

// OpenTelemetry's semantic conventions, "Service" and "Host"; the configuration may say otherwise.
function resourceOf(own: Readonly<Record<string, string>>, version: string, hub: string | null) {
  const host = hostname();
  return {
    'service.name': 'watchpost',
    'service.version': version,
    'service.instance.id': hub === null ? host : `${host}/${hub}`,
    'host.name': host,
    ...own,
  };
}
