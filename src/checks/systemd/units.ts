import { type Bus, BusError, CallError } from './bus.ts';
import type { Value } from './value-reader.ts';

/** What systemd says of a unit (org.freedesktop.systemd1(5), `ListUnitsByNames` and properties of services). */
export interface UnitStatus {
  readonly description: string;
  /** `loaded`, `not-found`, `masked`, `bad-setting` or `error`. */
  readonly load: string;
  readonly active: string;
  readonly sub: string;
  /** Null for units that are no services. */
  readonly service: ServiceStatus | null;
}

export interface ServiceStatus {
  readonly result: string;
  /** With what the main process ended: an exit code, or a signal by its number. */
  readonly exit: number;
  readonly restarts: number;
}

const destination = 'org.freedesktop.systemd1';

type UnitRow = [string, string, string, string, string, string, string, number, string, string];

// Of one unit in the answer to `ListUnitsByNames`.
const isUnitRow = (row: unknown): row is UnitRow =>
  Array.isArray(row) &&
  row.length === 10 &&
  row.every((part, index) => typeof part === (index === 7 ? 'number' : 'string'));

/** Asks for a unit by its full name; one that is not loaded is looked up. Rejects with a `BusError` or a `CallError`. */
export async function askUnit(bus: Bus, name: string, signal: AbortSignal): Promise<UnitStatus> {
  const [units] = await bus.call(
    {
      destination,
      path: '/org/freedesktop/systemd1',
      interface: 'org.freedesktop.systemd1.Manager',
      member: 'ListUnitsByNames',
      body: { list: [name] },
    },
    signal,
  );
  const unit: unknown = Array.isArray(units) ? units[0] : null;
  if (!isUnitRow(unit)) throw new BusError('protocol', 'systemd answered with something else than a unit');
  const [, description, load, active, sub, , path] = unit;
  const isService = name.endsWith('.service') && load === 'loaded';
  return { description, load, active, sub, service: isService ? await askService(bus, path, signal) : null };
}

// Of systemd older than 235 a service has no NRestarts.
async function askService(bus: Bus, path: string, signal: AbortSignal): Promise<ServiceStatus> {
  const property = async (name: string): Promise<Value> => {
    const body = ['org.freedesktop.systemd1.Service', name];
    const question = { destination, path, interface: 'org.freedesktop.DBus.Properties', member: 'Get', body };
    try {
      return (await bus.call(question, signal))[0] ?? '';
    } catch (error) {
      if (error instanceof CallError && error.errorName.endsWith('.UnknownProperty')) return '';
      throw error;
    }
  };
  return {
    result: String(await property('Result')),
    exit: Number(await property('ExecMainStatus')),
    restarts: Number(await property('NRestarts')),
  };
}
