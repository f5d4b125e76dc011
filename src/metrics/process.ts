import { readdirSync } from 'node:fs';
import process from 'node:process';
import type { Clock } from '#kernel/clock.ts';
import type { LatenessSummary } from '#kernel/lateness.ts';
import type { MetricReader } from './ask.ts';
import { type OwnRegister, setOrRemove } from './own-register.ts';

export interface ProcessOptions {
  readonly version: string;
  readonly clock: Clock;
  readonly lateness: () => LatenessSummary;
}

/** The process as a whole: the embedded nodes' threads are part of its CPU time, but not of its heap and event loop. */
export function createProcessMetrics(
  register: OwnRegister,
  ask: MetricReader,
  { version, clock, lateness }: ProcessOptions,
): { refresh(): void } {
  const cpu = register.counter('process_cpu_seconds_total', 'User and system CPU time.', [], 'start');
  const resident = register.gauge('process_resident_memory_bytes', 'Resident memory.');
  const started = register.gauge('process_start_time_seconds', 'When the process started, in seconds since the epoch.');
  const descriptors = register.gauge('process_open_fds', 'Open file descriptors.');
  const heap = register.gauge('nodejs_heap_size_used_bytes', 'Heap in use by the main thread.');
  const writtenAt = register.gauge(
    'watchpost_metrics_written_timestamp_seconds',
    'When these metrics were written: those of a large fleet are kept for up to two minutes.',
  );
  const lag = register.gauge(
    'watchpost_eventloop_lag_seconds',
    'How late the main thread came to its timers since the last scrape.',
    ['stat'],
  );
  register
    .gauge('watchpost_build_info', 'Always 1: the version of Watchpost and of Node.js.', ['version', 'node_version'])
    .set({ version, node_version: process.versions.node }, 1);
  started.set(Math.round(clock.now() - process.uptime() * 1_000) / 1_000);

  return {
    refresh() {
      writtenAt.set(clock.now() / 1_000);
      const { user, system } = process.cpuUsage();
      cpu.reset();
      cpu.inc((user + system) / 1e6);
      const memory = process.memoryUsage();
      resident.set(memory.rss);
      heap.set(memory.heapUsed);
      setOrRemove(descriptors, ask('process', openDescriptors));
      for (const [stat, value] of Object.entries(lateness())) lag.set({ stat }, value);
    },
  };
}

function openDescriptors(): number | null {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length - 1 : null;
}
