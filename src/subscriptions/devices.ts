import { ECDH } from 'node:crypto';
import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { isLoopback } from '#kernel/network.ts';
import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';
import type { Device, DeviceStore } from './device-store.ts';

/** A device as a browser describes it. */
export type DeviceDraft = Omit<Device, 'id' | 'createdAt'>;

/** The devices that get notifications by Web Push. */
export interface Devices {
  list(): readonly Device[];
  /** Adds a device, or renews it. Throws `usage` if a browser cannot have sent this. */
  add(draft: DeviceDraft): Device;
  /** False if there is none. */
  remove(id: string): boolean;
}

export interface DevicesOptions {
  readonly store: DeviceStore;
  /** The names under `notify` that have `push`. */
  readonly recipients: () => readonly string[];
  readonly clock: Clock;
  readonly random: Random;
}

const mostDevices = 200;

export function createDevices({ store, recipients, clock, random }: DevicesOptions): Devices {
  return {
    list: () => store.devices(),
    add(draft) {
      const { recipient, endpoint, p256dh, auth } = draft;
      if (!recipients().includes(recipient)) throw wrong(`notify.${recipient} has no push`);
      if (!isPushAddress(endpoint)) throw wrong('endpoint: expected an https address of a push service');
      if (!isPublicKey(p256dh)) throw wrong('p256dh: expected a public key on the curve P-256');
      if (Buffer.from(auth, 'base64url').length !== 16) throw wrong('auth: expected a secret of 16 bytes');
      const all = store.devices();
      const known = all.find((one) => one.recipient === recipient && one.endpoint === endpoint);
      if (known === undefined && all.length >= mostDevices)
        throw wrong(`there are ${mostDevices} devices already; remove one first`);
      const name = singleLine(draft.name, 80);
      const device = { ...draft, name, id: known?.id ?? random.id(12), createdAt: known?.createdAt ?? clock.now() };
      store.writeDevice({ kind: 'device', device });
      return device;
    },
    remove(id) {
      if (!store.devices().some((one) => one.id === id)) return false;
      store.writeDevice({ kind: 'device removed', id });
      return true;
    },
  };
}

const wrong = (message: string) => new WatchpostError('usage', message);

// Without TLS only on this machine, for a push service under test; whether it may be reached is decided with each message.
function isPushAddress(text: string): boolean {
  const url = text.length > 2_000 ? null : URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return false;
  const isHere = url.hostname === 'localhost' || isLoopback(url.hostname.replace(/^\[(.*)\]$/, '$1'));
  return url.protocol === 'https:' || (url.protocol === 'http:' && isHere);
}

// Whether it is a point of the curve: a key that is none must not reach the encryption (RFC 8291, 3.1).
function isPublicKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length !== 65 || bytes[0] !== 4) return false;
  try {
    ECDH.convertKey(bytes, 'prime256v1', undefined, undefined, 'uncompressed');
    return true;
  } catch {
    // The only reason to throw is that the point is not on the curve.
    return false;
  }
}
