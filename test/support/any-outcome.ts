import * as fc from 'fast-check';
import type { Outcome } from '#checks/index.ts';
import { down, unknown, up } from './votes.ts';

// Of these, outcomes share what is the same, as those that are read from batches do.
const facts = [{}, { loss: 0 }] as const;
const detail = {};
const addresses = ['192.0.2.1', '192.0.2.2', null] as const;
const seconds = fc.double({ min: 0, max: 10, noNaN: true });

const healthy: fc.Arbitrary<Outcome> = fc
  .tuple(
    fc.option(seconds),
    fc.constantFrom(...facts),
    fc.constantFrom(...addresses),
    fc.constantFrom([], ['connect'], ['connect', 'tls'], ['tls', 'connect']),
    seconds,
  )
  .map(([took, known, address, names, phase]) => ({
    ...up(0, { facts: known, address, phases: Object.fromEntries(names.map((name) => [name, phase])) }),
    seconds: took,
    detail,
  }));

/** Outcomes as nodes send them of one target, most of them healthy. */
export const anyOutcome = fc.oneof({ arbitrary: healthy, weight: 4 }, fc.constantFrom(down(), unknown()));
