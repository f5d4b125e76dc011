import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import type { Clock } from '#kernel/clock.ts';
import type { Ask } from './ask.ts';
import type { Register } from './register.ts';
import type { Sample } from './series.ts';

export interface ProcessMetrics extends Disposable {
  refresh(): void;
}

export interface ProcessOptions {
  readonly version: string;
  readonly clock: Clock;
}

// Wakes the process 20 times a second.
const resolutionMs = 50;

/** The process as a whole: the embedded nodes' threads are part of its CPU time, but not of its heap and event loop. */
export function createProcessMetrics(register: Register, ask: Ask, { version, clock }: ProcessOptions): ProcessMetrics {
  const cpu = register.counter('process_cpu_seconds_total', 'User and system CPU time.', 'start').of();
  const resident = gauge('process_resident_memory_bytes', 'Resident memory.');
  const started = gauge('process_start_time_seconds', 'When the process started, in seconds since the epoch.');
  const descriptors = gauge('process_open_fds', 'Open file descriptors.');
  const heap = gauge('nodejs_heap_size_used_bytes', 'Heap in use by the main thread.');
  const lag = register.gauge(
    'watchpost_eventloop_lag_seconds',
    'How late the event loop of the main thread ran since the last scrape.',
  );
  const build = register.gauge('watchpost_build_info', 'Always 1: the version of Watchpost and of Node.js.');
  build.of({ version, node_version: process.versions.node }).value = 1;
  started.value = Math.round(clock.now() - process.uptime() * 1_000) / 1_000;
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();

  function gauge(name: string, help: string): Sample {
    return register.gauge(name, help).of();
  }

  return {
    refresh() {
      const { user, system } = process.cpuUsage();
      cpu.value = (user + system) / 1e6;
      const memory = process.memoryUsage();
      resident.value = memory.rss;
      heap.value = memory.heapUsed;
      descriptors.value = ask('process', openDescriptors);
      lag.of({ stat: 'p50' }).value = lateness(delay.percentile(50));
      lag.of({ stat: 'p99' }).value = lateness(delay.percentile(99));
      lag.of({ stat: 'max' }).value = lateness(delay.max);
      delay.reset();
    },
    [Symbol.dispose]: () => void delay.disable(),
  };
}

// What was recorded is the time between two wake-ups, the resolution included.
function lateness(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - resolutionMs / 1_000);
}

function openDescriptors(): number | null {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length - 1 : null;
}
