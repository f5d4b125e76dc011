/** The check types that the bench has servers for. */
export const benchedTypes = ['ping', 'http', 'tcp', 'dns', 'udp'] as const;
export type BenchedType = (typeof benchedTypes)[number];

/** Where the servers of the bench listen: on every address of 127.0.0.0/8, those for datagrams on 127.0.0.1 only. */
export interface Ports {
  readonly tcp: number;
  readonly http: number;
  readonly udp: number;
  readonly dns: number;
}

/** One measurement: `concurrency` loops that check one target after the other for so long. */
export interface Load {
  readonly type: BenchedType;
  readonly concurrency: number;
  readonly ms: number;
  readonly ports: Ports;
}

export interface Spent {
  readonly checks: number;
  /** The same with those that warmed up. */
  readonly allChecks: number;
  /** Checks that did not find the target up. */
  readonly failures: number;
  /** CPU of the process that did them; for a driver that has another program do them, of no account. */
  readonly cpuSeconds: number;
  readonly seconds: number;
  /** From the start of a check to its outcome, in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Does one check of a target and says whether it is up. */
export type Check = (type: BenchedType, address: string, ports: Ports) => Promise<boolean>;

// Many addresses, so that the ports of closed connections do not run out. A datagram is answered from 127.0.0.1 always.
const many = Array.from({ length: 50 }, (_, index) => `127.0.1.${index + 1}`);

/** Runs a load after a quarter of its time to warm up. */
export async function runLoad(check: Check, { type, concurrency, ms, ports }: Load): Promise<Spent> {
  const warmUp: number[] = [];
  await drive(check, type, concurrency, ms / 4, ports, warmUp);
  const took: number[] = [];
  const cpu = process.cpuUsage();
  const start = performance.now();
  const failures = await drive(check, type, concurrency, ms, ports, took);
  const seconds = (performance.now() - start) / 1e3;
  const { user, system } = process.cpuUsage(cpu);
  const sorted = took.sort((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
  return {
    checks: took.length,
    allChecks: took.length + warmUp.length,
    failures,
    cpuSeconds: (user + system) / 1e6,
    seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  };
}

async function drive(
  check: Check,
  type: BenchedType,
  concurrency: number,
  ms: number,
  ports: Ports,
  took: number[],
): Promise<number> {
  const end = performance.now() + ms;
  const addresses = type === 'dns' || type === 'udp' ? ['127.0.0.1'] : many;
  let failures = 0;
  let turn = 0;
  const loop = async () => {
    while (performance.now() < end) {
      const start = performance.now();
      const up = await check(type, addresses[(turn += 1) % addresses.length] ?? '', ports);
      took.push(performance.now() - start);
      if (!up) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: concurrency }, loop));
  return failures;
}
