import type { PathHop, PathProbe } from './path-trace.ts';

/** Who answered: `core1.example.net (198.51.100.9)` if names were looked up, otherwise the address. */
export function hostOfProbe({ address, name }: PathProbe, hasNames: boolean): string {
  if (address === null) return '(hidden)';
  return hasNames ? `${name ?? address} (${address})` : address;
}

/** The network of a hop in the form of a program, `unknown` if it is not known, or nothing if the node knows no networks. */
export function networkOf({ as }: PathHop, unknown: string, known: (number: number) => string): string {
  if (as === undefined) return '';
  return as === null ? unknown : known(as.number);
}
