import { createReadStream } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { createInterface } from 'node:readline';
import { createGunzip } from 'node:zlib';
import ipaddr from 'ipaddr.js';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { singleLine } from '#kernel/text.ts';
import { firstAddress } from './addresses.ts';
import type { AutonomousSystem, PathTrace } from './path-trace.ts';

/** The autonomous systems that addresses belong to. */
export interface AsNames {
  /** Null if the file lists none for it. */
  find(address: string): AutonomousSystem | null;
  /** The path with the autonomous system of each hop. */
  nameHops(trace: PathTrace): PathTrace;
}

const loaded = new Map<string, Promise<AsNames>>();

/**
 * Reads a file in the format of ip2asn (iptoasn.com), once for the process: tab-separated lines of first address, last address, AS number,
 * country and name, of either family; compressed if its name ends in `.gz`. Rejects with the line that cannot be read.
 */
export async function loadAsNames(path: string): Promise<AsNames> {
  const known = loaded.get(path);
  if (known !== undefined) return known;
  const reading = readAsNames(path);
  loaded.set(path, reading);
  try {
    return await reading;
  } catch (error) {
    // It may have been replaced by the next time.
    loaded.delete(path);
    throw error;
  }
}

async function readAsNames(path: string): Promise<AsNames> {
  const names = new NameList();
  const ranges = { 4: new RangeList(4, names), 6: new RangeList(16, names) };
  const file = createReadStream(path, { highWaterMark: 16_384 });
  const input = path.endsWith('.gz') ? file.pipe(createGunzip()) : file;
  file.on('error', (error) => input.destroy(error));
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1;
      if (line === '') continue;
      const problem = addLine(line, ranges);
      if (problem !== null) throw new Error(problem);
    }
  } catch (error) {
    const where = number === 0 ? path : `${path}:${number}`;
    throw new WatchpostError('config_invalid', `cannot read asn_file ${where}: ${messageOf(error)}`, { cause: error });
  } finally {
    file.destroy();
  }
  ranges[4].finish();
  ranges[6].finish();
  const find = (address: string) => ranges[isIPv4(address) ? 4 : 6].find(bytesOf(address));
  return {
    find,
    nameHops: (trace) => ({
      ...trace,
      hops: trace.hops.map((hop) => {
        const address = firstAddress(hop);
        return { ...hop, as: address === null ? null : find(address) };
      }),
    }),
  };
}

const longestName = 200;

function addLine(line: string, ranges: Readonly<Record<4 | 6, RangeList>>): string | null {
  const [first = '', last = '', written = '', , name] = line.split('\t');
  const family = isIPv4(first) && isIPv4(last) ? 4 : isIPv6(first) && isIPv6(last) ? 6 : null;
  if (family === null || !/^\d{1,10}$/.test(written) || name === undefined) {
    return 'expected first address, last address, AS number, country and name, separated by tabs';
  }
  const list = ranges[family];
  // AS 0 stands for what is not routed.
  if (Number(written) === 0) return null;
  return list.add(bytesOf(first), bytesOf(last), Number(written), singleLine(name, longestName));
}

function bytesOf(address: string): Uint8Array {
  return Uint8Array.from(ipaddr.parse(address).toByteArray());
}

/** Each name once: a file has some hundred thousand ranges of some ten thousand networks. */
class NameList {
  readonly #index = new Map<string, number>();
  readonly #names: string[] = [];

  add(name: string): number {
    const known = this.#index.get(name);
    if (known !== undefined) return known;
    this.#index.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  at(index: number): string {
    return this.#names[index] ?? '';
  }
}

/** Ranges of addresses in ascending order, in two arrays: about 15 bytes a range for IPv4. */
class RangeList {
  readonly #width: number;
  readonly #names: NameList;
  #bounds: Buffer;
  #networks: Uint32Array;
  #count = 0;

  constructor(width: number, names: NameList) {
    this.#width = width;
    this.#names = names;
    this.#bounds = Buffer.alloc(2 * width * 1_024);
    this.#networks = new Uint32Array(2 * 1_024);
  }

  /** Returns why it cannot be added, or null. */
  add(first: Uint8Array, last: Uint8Array, number: number, name: string): string | null {
    const width = this.#width;
    if (Buffer.compare(first, last) > 0) return 'the first address is after the last one';
    const at = this.#count * 2 * width;
    if (at > 0 && Buffer.compare(first, this.#bounds.subarray(at - width, at)) <= 0) {
      return 'the ranges are not in ascending order, or overlap';
    }
    if (at === this.#bounds.length) this.#resize(2 * this.#count);
    this.#bounds.set(first, at);
    this.#bounds.set(last, at + width);
    this.#networks[2 * this.#count] = number;
    this.#networks[2 * this.#count + 1] = this.#names.add(name);
    this.#count += 1;
    return null;
  }

  /** Gives back the room for more. */
  finish(): void {
    this.#resize(this.#count);
  }

  find(address: Uint8Array): AutonomousSystem | null {
    const width = this.#width;
    let low = 0;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      const lastAt = (2 * middle + 1) * width;
      if (Buffer.compare(this.#bounds.subarray(lastAt, lastAt + width), address) < 0) low = middle + 1;
      else high = middle;
    }
    const firstAt = 2 * low * width;
    if (low === this.#count || Buffer.compare(this.#bounds.subarray(firstAt, firstAt + width), address) > 0)
      return null;
    return { number: this.#networks[2 * low] ?? 0, name: this.#names.at(this.#networks[2 * low + 1] ?? 0) };
  }

  #resize(count: number): void {
    const bounds = Buffer.alloc(count * 2 * this.#width);
    bounds.set(this.#bounds.subarray(0, bounds.length));
    this.#bounds = bounds;
    const networks = new Uint32Array(2 * count);
    networks.set(this.#networks.subarray(0, networks.length));
    this.#networks = networks;
  }
}
