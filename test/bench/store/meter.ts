import { readFileSync } from 'node:fs';

/** Milliseconds since it was started. */
export function stopwatch(): () => string {
  const began = performance.now();
  return () => (performance.now() - began).toFixed(1);
}

/** Milliseconds of CPU of this thread since it was started: what it would take on a machine that does nothing else. */
export function cpuStopwatch(): () => number {
  const began = process.threadCpuUsage();
  return () => {
    const { user, system } = process.threadCpuUsage(began);
    return (user + system) / 1_000;
  };
}

/** Bytes that went through write(2), and bytes of pages that the kernel was given to write to the disk. */
export function readIo(): { readonly written: number; readonly dirtied: number } {
  const text = readFileSync('/proc/self/io', 'utf8');
  const figure = (name: string) => Number(new RegExp(`^${name}: (\\d+)`, 'm').exec(text)?.[1]);
  return { written: figure('wchar'), dirtied: figure('write_bytes') };
}

/** Bytes that went through write(2) since it was started. */
export function bytesWritten(): () => number {
  const { written } = readIo();
  return () => readIo().written - written;
}
