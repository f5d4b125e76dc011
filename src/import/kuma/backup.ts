import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { z } from 'zod';
import { explainSystemError } from '#config/read/source.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { proxiesOf } from './client.ts';
import { type KumaData, KumaMonitor, Notification } from './schema.ts';

const Item = z.record(z.string(), z.unknown());
const Backup = z.looseObject({
  monitorList: z.union([z.array(Item), z.record(z.string(), Item).transform((items) => Object.values(items))]),
  notificationList: z.array(Item).default([]),
  proxyList: z.array(Item).default([]),
});

/** Reads the JSON backup of Uptime Kuma 1. It holds neither maintenance nor results. */
export async function readBackup(path: string): Promise<KumaData> {
  const backup = Backup.safeParse(await readJson(path));
  if (!backup.success)
    throw new WatchpostError('usage', `${path} is not a backup of Uptime Kuma: it has no monitorList`);
  const { monitorList, notificationList, proxyList } = backup.data;
  return {
    place: basename(path),
    monitors: monitorList.map((item) => KumaMonitor.parse(columnsOf(item))),
    notifications: notificationList.map((item) => Notification.parse(item)),
    maintenance: [],
    settings: new Map(),
    proxies: proxiesOf(proxyList),
    engines: null,
    others: new Map(),
    beats: null,
  };
}

async function readJson(path: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    const why = error instanceof SyntaxError ? 'it is not JSON' : explainSystemError(error);
    throw new WatchpostError('usage', `${path} cannot be read: ${why}`, { cause: error });
  }
}

// `retryInterval` is the column `retry_interval`; ids of notifications are the keys of a map.
function columnsOf(item: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const columns = Object.entries(item).map(([key, value]) => [
    key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  const chosen = z.record(z.string(), z.boolean()).catch({}).parse(item['notificationIDList']);
  const notifications = Object.entries(chosen).flatMap(([id, isOn]) => (isOn ? [Number(id)] : []));
  return { ...Object.fromEntries(columns), notifications };
}
