/** A browser that shows the notifications of a recipient (Push API). Times are milliseconds since the epoch. */
export interface Device {
  readonly id: string;
  /** The name under `notify`. */
  readonly recipient: string;
  /** What people call it: "Firefox on Android". */
  readonly name: string;
  /** The user who added it; null if there are no users. */
  readonly user: string | null;
  /** The origin of the page that it was added on. */
  readonly origin: string;
  /** Where its push service takes messages: as good as a password. */
  readonly endpoint: string;
  /** Its public key (P-256, uncompressed) and its authentication secret (RFC 8291), in base64url. */
  readonly p256dh: string;
  readonly auth: string;
  readonly createdAt: number;
}

/** What is written about devices, as plain data. */
export type DeviceWrite =
  | { readonly kind: 'device'; readonly device: Device }
  | { readonly kind: 'device removed'; readonly id: string };

/** Where devices are kept. */
export interface DeviceStore {
  /** All, the oldest first. */
  devices(): readonly Device[];
  /** A device with a known id replaces that one. */
  writeDevice(write: DeviceWrite): void;
}
