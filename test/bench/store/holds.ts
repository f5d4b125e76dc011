import { PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { cpuStopwatch } from './meter.ts';

interface Hold {
  readonly what: string;
  readonly from: number;
  readonly ms: number;
  readonly cpuMs: number;
}

const longMs = 10;
const binMs = 0.1;

/** For how long the main loop was held at a time, by the clock and by the CPU, and how much of that was collecting garbage. */
export class Holds implements Disposable {
  readonly #bins = { ms: new Uint32Array(20_000), cpuMs: new Uint32Array(20_000) };
  readonly #sums = new Map<string, { count: number; cpuMs: number }>();
  readonly #long: Hold[] = [];
  readonly #collections: PerformanceEntry[] = [];
  readonly #observer = new PerformanceObserver((list) => void this.#collections.push(...list.getEntries()));

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] });
  }

  measure<Result>(action: () => Result, what: string): Result {
    const [from, cpu] = [performance.now(), cpuStopwatch()];
    const result = action();
    const hold = { what, from, cpuMs: cpu(), ms: performance.now() - from };
    for (const key of ['ms', 'cpuMs'] as const) {
      const bins = this.#bins[key];
      const bin = Math.min(Math.floor(hold[key] / binMs), bins.length - 1);
      bins[bin] = (bins[bin] ?? 0) + 1;
    }
    const sum = this.#sums.get(what) ?? { count: 0, cpuMs: 0 };
    this.#sums.set(what, { count: sum.count + 1, cpuMs: sum.cpuMs + hold.cpuMs });
    if (hold.cpuMs >= longMs) this.#long.push(hold);
    return result;
  }

  /** How much CPU that of a kind took, in milliseconds. */
  cpuMsOf(what: string): number {
    return this.#sums.get(what)?.cpuMs ?? 0;
  }

  print(): void {
    const count = [...this.#sums.values()].reduce((sum, one) => sum + one.count, 0);
    const p99 = (key: 'ms' | 'cpuMs') => {
      let left = Math.ceil(count * 0.99);
      const bin = this.#bins[key].findIndex((n) => (left -= n) <= 0);
      return ((bin + 1) * binMs).toFixed(1);
    };
    const longest = this.#long.toSorted((a, b) => b.cpuMs - a.cpuMs);
    const isOver = ({ cpuMs }: Hold) => cpuMs > 20;
    console.log(
      `holds of the main loop ${count.toLocaleString('en')}, p99 ${p99('cpuMs')} ms of CPU (${p99('ms')} by the clock); ` +
        `${this.#long.length} over ${longMs} ms, ${longest.filter(isOver).length} over 20 (aim: none)`,
    );
    for (const hold of longest.slice(0, 8)) {
      const garbage = this.#collections
        .filter(({ startTime, duration }) => startTime < hold.from + hold.ms && startTime + duration > hold.from)
        .reduce((sum, { duration }) => sum + duration, 0);
      const times = `${hold.cpuMs.toFixed(1)} ms of CPU, ${hold.ms.toFixed(1)} by the clock`;
      console.log(`  ${hold.what.padEnd(20)} ${times}, of which ${garbage.toFixed(1)} collecting garbage`);
    }
  }

  [Symbol.dispose](): void {
    this.#observer.disconnect();
  }
}
