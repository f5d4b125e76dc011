import type { Config } from '#config/config.ts';
import { WatchpostError } from '#kernel/errors.ts';

/** The URL of a daemon that listens there, from this machine. Throws `daemon_unreachable` if the port is not known. */
export function urlOfDaemon(http: Pick<Config['http'], 'host' | 'port' | 'admin'>): string {
  const { host, port } = http.admin ?? http;
  if (port !== 0) return `http://${hostOf(host)}:${port}`;
  throw new WatchpostError(
    'daemon_unreachable',
    `http.${http.admin === null ? 'listen' : 'admin'} has port 0, so the address of the daemon is unknown; give it a port`,
  );
}

// A daemon that listens everywhere is asked on loopback, which is all that it lets ask.
function hostOf(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
