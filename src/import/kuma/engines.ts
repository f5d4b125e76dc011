import type { DifferenceReporter, DraftEntry } from '../draft.ts';
import type { KumaData, KumaEngine, KumaMonitor } from './schema.ts';

const socketIn = ({ docker_type, docker_daemon }: KumaEngine) =>
  docker_type === 'socket' && docker_daemon !== undefined ? docker_daemon : null;

/** The socket of the first container engine, which is the one that a node asks; null if there is none. */
export function socketOf(engines: KumaData['engines']): string | null {
  for (const engine of engines?.values() ?? []) if (socketIn(engine) !== null) return socketIn(engine);
  return null;
}

/** Where the message bus of the system is (D-Bus specification, "Well-known Message Bus Instances"). */
export const systemBus = '/run/dbus/system_bus_socket';

/** A monitor of a service, which Kuma asks `systemctl is-active` for. */
export function systemService({ system_service_name: name = '' }: KumaMonitor, say: DifferenceReporter): DraftEntry {
  if (!/^[\w.@-]+$/.test(name)) return { leftOut: 'it names no service of systemd' };
  say('differs', `it is asked by the nodes in this process at ${systemBus}; others need systemd_socket of their own`);
  const host = /\.(?:service|socket|target|mount|swap|timer|path|slice|scope)$/.test(name) ? name : `${name}.service`;
  return { check: 'systemd', host, expect: { state: ['active', 'reloading'] } };
}

/**
 * A monitor of a container. As in Kuma, one that is paused or restarts still runs. There an unhealthy one is pending, which is neither
 * up nor down.
 */
export function container(engines: KumaData['engines']): (monitor: KumaMonitor, say: DifferenceReporter) => DraftEntry {
  return ({ docker_host: id = '', docker_container: host }, say) => {
    const engine = engines?.get(id);
    if (engines !== null && engine === undefined) return { leftOut: 'it names no container engine' };
    const socket = engine === undefined ? null : socketIn(engine);
    const own = socketOf(engines);
    if (engine !== undefined && socket === null)
      return {
        leftOut: `its container engine is at ${engine.docker_daemon ?? 'no address'}: nodes ask by a socket only`,
      };
    if (socket !== own)
      return { leftOut: `its container engine is at ${socket}, and a node asks one only, here ${own}` };
    const where = own === null ? 'docker_socket, which has to be added: the backup does not name it' : own;
    say('differs', `it is asked by the nodes in this process at ${where}; others need docker_socket of their own`);
    say(
      'differs',
      'a container that is unhealthy is down, not pending, and one whose health check has yet to pass is up',
    );
    return { check: 'docker', host, expect: { state: ['running', 'paused', 'restarting'] } };
  };
}
