/** The kinds of checks that are measured, and how often each is made. */
export const kinds = ['http', 'tcp', 'ping'] as const;
export type Kind = (typeof kinds)[number];

export const intervalMsOf: Readonly<Record<Kind, number>> = { http: 20_000, tcp: 20_000, ping: 30_000 };

/** How many echoes a ping has, and from the start of one to that of the next. */
export const echoes = 4;
export const echoIntervalMs = 500;

/** One target of the bench: an address of its own, so that a server can tell by it who was asked. */
export interface BenchTarget {
  readonly name: string;
  readonly type: Kind;
  readonly address: string;
}

export function createTargets(type: Kind, count: number): readonly BenchTarget[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `target-${index}`,
    type,
    address: `127.${10 + Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${1 + (index % 250)}`,
  }));
}

export interface Ports {
  readonly http: number;
  readonly tcp: number;
}

/** A target as Watchpost, and as blackbox_exporter, is told of it. */
export function hostOf({ type, address }: BenchTarget, ports: Ports): string {
  switch (type) {
    case 'http':
      return `http://${address}:${ports.http}/`;
    case 'tcp':
      return `${address}:${ports.tcp}`;
    case 'ping':
      return address;
  }
}
