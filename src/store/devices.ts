import type { Device, DeviceStore, DeviceWrite } from '#subscriptions/device-store.ts';
import { asc, type BetterSQLite3Database, eq } from './drizzle.ts';
import type { OpenDatabase } from './open.ts';
import { devices } from './schema.ts';

interface DeviceStoreDependencies {
  readonly file: Pick<OpenDatabase, 'drizzle' | 'waitForDisk'>;
  readonly guard: <Result>(action: () => Result) => Result;
  /** Null unless several hubs share the history. */
  readonly sharing: { write(write: DeviceWrite): void } | null;
}

export function createDeviceStore({ file, guard, sharing }: DeviceStoreDependencies): DeviceStore {
  const { drizzle: database } = file;
  return {
    devices: () =>
      guard((): readonly Device[] =>
        database.select().from(devices).orderBy(asc(devices.createdAt), asc(devices.id)).all(),
      ),
    writeDevice: (write) =>
      guard(() => {
        if (sharing !== null) return sharing.write(write);
        file.waitForDisk(true);
        applyDevice(database, write);
      }),
  };
}

/** Makes a write, inside the transaction of its caller. */
export function applyDevice(database: BetterSQLite3Database, write: DeviceWrite): void {
  if (write.kind === 'device removed') {
    database.delete(devices).where(eq(devices.id, write.id)).run();
    return;
  }
  const { device } = write;
  database.insert(devices).values(device).onConflictDoUpdate({ target: devices.id, set: device }).run();
}
