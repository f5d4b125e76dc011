import type { WebOptions } from '#web/server.ts';

/** Metrics that are this text, in one piece. */
export function metricsOf(text: () => Promise<string>): WebOptions['metrics'] {
  return metricsInPieces(async function* () {
    yield await text();
  });
}

/** Metrics that come piece by piece. */
export function metricsInPieces(body: () => AsyncIterable<string>): WebOptions['metrics'] {
  return {
    scrape: () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', body: body(), kept: null }),
    requestAnswered: () => {},
  };
}

/** For servers whose metrics nobody reads: one line. */
export const noMetrics = metricsOf(async () => 'up 1\n');
