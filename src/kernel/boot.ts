import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { unlessMissing } from './files.ts';

/** The boot of this machine: what tells a clock that was set from a program that was away. */
export interface Boot {
  /** The beginning of its identifier as a number. */
  readonly id: number;
  /** For how many milliseconds the machine has been up, the time that it slept included. */
  readonly upMs: () => number;
}

const digits = 12;

/** Null if this machine has no boot identifier. */
export async function currentBoot(): Promise<Boot | null> {
  const text = await unlessMissing(readFile('/proc/sys/kernel/random/boot_id', 'utf8'));
  const id = Number.parseInt((text ?? '').replaceAll('-', '').slice(0, digits), 16);
  return Number.isSafeInteger(id) ? { id, upMs: () => uptime() * 1_000 } : null;
}
