import { systemClock } from '#kernel/clock.ts';
import { createAccess } from '#web/access/access.ts';
import { startWebServer, type WebOptions, type WebServer } from '#web/server.ts';
import { silentLog } from './metrics.ts';
import { noMetrics } from './no-metrics.ts';

/** A web server on a port of loopback, healthy and silent where nothing else is said. */
export async function serveWeb(options: Partial<WebOptions> = {}): Promise<WebServer> {
  return startWebServer({
    listen: { host: '127.0.0.1', port: 0 },
    clock: systemClock,
    log: silentLog,
    metrics: noMetrics,
    health: { pulses: [], notReady: () => [] },
    ...options,
  });
}

/** Pages that everybody may read, without users. */
export function openAccess(): ReturnType<typeof createAccess> {
  return createAccess({
    users: new Map(),
    userHeader: null,
    isProxy: () => false,
    strangers: true,
    clock: systemClock,
    sessions: { open: () => '', userOf: () => null, close: () => {} },
  });
}
