/** One target of the bench: an address of its own, so that a server can tell by it who was asked. */
export interface BenchTarget {
  readonly name: string;
  readonly type: 'http' | 'tcp';
  readonly address: string;
}

/** Every tenth target is tcp, the others are http. */
export function createTargets(count: number): readonly BenchTarget[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `target-${index}`,
    type: index % 10 === 9 ? 'tcp' : 'http',
    address: `127.${10 + Math.floor(index / 62_500)}.${Math.floor(index / 250) % 250}.${1 + (index % 250)}`,
  }));
}
