import { readFile } from 'node:fs/promises';
import { type PushDevices, pushKeysOf } from '#channels/index.ts';
import { createGate } from '#checks/gate.ts';
import { createResolver } from '#checks/index.ts';
import { ownAddresses } from '#checks/own-addresses.ts';
import type { Config } from '#config/config.ts';
import type { Clock } from '#kernel/clock.ts';
import type { Random } from '#kernel/random.ts';
import { storedDevices } from '#store/reading.ts';
import type { Store } from '#store/sqlite.ts';
import { createDevices } from '#subscriptions/devices.ts';
import type { DevicePages } from '#web/pages/device-routes.ts';

export interface DevicesOver {
  readonly store: Store;
  readonly inForce: () => Config;
  readonly clock: Clock;
  readonly random: Random;
}

/** The devices that get push notifications, for pages and for the channel. */
export interface OpenedDevices {
  readonly pages: DevicePages;
  readonly channel: PushDevices;
}

export function openDevices({ store, inForce, clock, random }: DevicesOver): OpenedDevices {
  const recipients = () => (inForce().contacts['push'] ?? []).map(({ notify }) => notify);
  const devices = createDevices({ store, recipients, clock, random });
  const secret = () => store.fact('push key', () => random.id(43));
  return {
    pages: { ...devices, recipients, publicKey: () => pushKeysOf(secret()).publicKey },
    channel: {
      list: () => devices.list(),
      remove: (id) => devices.remove(id),
      secret,
      pin: pinBy(clock),
    },
  };
}

/** The same on a hub that does not lead, which changes nothing. */
export function readOnlyDevices(over: DevicesOver): PushDevices {
  return { ...openDevices(over).channel, remove: () => false };
}

/** The devices in a database that is only read, for a command; null if none was ever added. */
export function devicesInFile(path: string, clock: Clock): PushDevices | null {
  const stored = storedDevices(path);
  if (stored === null) return null;
  const { devices, secret } = stored;
  return { list: () => devices, remove: () => false, secret: () => secret, pin: pinBy(clock) };
}

// A browser names the address of its push service: it is judged like the target of a stranger's check.
function pinBy(clock: Clock): PushDevices['pin'] {
  const resolver = createResolver({
    clock,
    readFile: async (path) => readFile(path, 'utf8'),
    timeoutMs: 2_000,
    limitMs: 5_000,
  });
  const ours = ownAddresses(clock, []);
  return async (host, allowPrivate, signal) => {
    const policy = allowPrivate ? 'private' : 'public';
    const gate = createGate({ policy, resolver, clock, allow: [], deny: [], ownAddresses: ours });
    const pinned = await gate.pin(host, { signal });
    if (pinned.ok) return { ok: true, address: { address: pinned.address, family: pinned.family } };
    const { code, message } = pinned.failure;
    const isClosed = code === 'forbidden' && !allowPrivate;
    const reason = isClosed ? `${host} has no public address; push.allow_private allows private ones` : message;
    return { ok: false, reason };
  };
}
