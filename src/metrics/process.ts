import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import process from 'node:process';
import { Counter, Gauge, type Registry } from 'prom-client';
import type { Clock } from '#kernel/clock.ts';
import type { Ask } from './ask.ts';

export interface ProcessMetrics extends Disposable {
  refresh(): void;
}

export interface ProcessOptions {
  readonly version: string;
  readonly clock: Clock;
}

// Wakes the process 20 times a second; prom-client's own does so 100 times, and cannot be stopped.
const resolutionMs = 50;

/** The process as a whole: the embedded nodes' threads are part of its CPU time, but not of its heap and event loop. */
export function createProcessMetrics(registry: Registry, ask: Ask, { version, clock }: ProcessOptions): ProcessMetrics {
  const registers = [registry];
  const cpu = new Counter({ name: 'process_cpu_seconds_total', help: 'User and system CPU time.', registers });
  const resident = gauge('process_resident_memory_bytes', 'Resident memory.');
  const started = gauge('process_start_time_seconds', 'When the process started, in seconds since the epoch.');
  const descriptors = gauge('process_open_fds', 'Open file descriptors.');
  const heap = gauge('nodejs_heap_size_used_bytes', 'Heap in use by the main thread.');
  const lag = new Gauge({
    name: 'watchpost_eventloop_lag_seconds',
    help: 'How late the event loop of the main thread ran since the last scrape.',
    labelNames: ['stat'] as const,
    registers,
  });
  const build = new Gauge({
    name: 'watchpost_build_info',
    help: 'Always 1: the version of Watchpost and of Node.js.',
    labelNames: ['version', 'node_version'] as const,
    registers,
  });
  build.set({ version, node_version: process.versions.node }, 1);
  started.set(Math.round(clock.now() - process.uptime() * 1_000) / 1_000);
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  let counted = 0;

  function gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers });
  }

  return {
    refresh() {
      const { user, system } = process.cpuUsage();
      const seconds = (user + system) / 1e6;
      cpu.inc(Math.max(0, seconds - counted));
      counted = seconds;
      const memory = process.memoryUsage();
      resident.set(memory.rss);
      heap.set(memory.heapUsed);
      descriptors.set(ask('process', openDescriptors) ?? Number.NaN);
      lag.set({ stat: 'p50' }, lateness(delay.percentile(50)));
      lag.set({ stat: 'p99' }, lateness(delay.percentile(99)));
      lag.set({ stat: 'max' }, lateness(delay.max));
      delay.reset();
    },
    [Symbol.dispose]: () => void delay.disable(),
  };
}

// What was recorded is the time between two wake-ups, the resolution included.
function lateness(nanoseconds: number): number {
  return Math.max(0, nanoseconds / 1e9 - resolutionMs / 1_000);
}

function openDescriptors(): number {
  return process.platform === 'linux' ? readdirSync('/proc/self/fd').length - 1 : Number.NaN;
}
