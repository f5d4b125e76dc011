import { networkInterfaces } from 'node:os';
import type { Clock } from '#kernel/clock.ts';

const freshMs = 10_000;

/** This machine's interface addresses, read again every ten seconds, and those that it is known by elsewhere. */
export function ownAddresses(clock: Clock, known: readonly string[]): () => readonly string[] {
  let addresses: readonly string[] = [];
  let readAt = Number.NEGATIVE_INFINITY;
  return () => {
    if (clock.elapsed() - readAt >= freshMs) {
      readAt = clock.elapsed();
      const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
      addresses = [...interfaces.map(({ address }) => address), ...known];
    }
    return addresses;
  };
}
