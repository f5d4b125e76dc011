import { figure, printTable } from '../tools/table.ts';
import { nameOf, type ResultsMeasured } from './results.ts';

interface Aim {
  readonly what: string;
  readonly atMost: number;
  readonly got: (one: ResultsMeasured) => number;
}

const aims: readonly Aim[] = [
  { what: 'a target that goes down is reported within, s', atMost: 15, got: ({ ms }) => ms.outage / 1_000 },
  { what: 'votes blamed on a node that answered', atMost: 0, got: ({ counts }) => counts.blamed },
  { what: 'memory of the hub, MB', atMost: 500, got: ({ memory }) => memory / 1e6 },
  { what: '/healthz p99, ms', atMost: 100, got: ({ ms }) => ms.health },
  { what: '/metrics, s', atMost: 2, got: ({ ms }) => ms.metrics / 1_000 },
  { what: 'the first page, s', atMost: 2, got: ({ ms }) => ms.page / 1_000 },
];
// Of the best of what smaller offers have stored.
const leastOfBest = 0.9;

/** Each aim under overload beside what came of it, first with a full core, then with each share of one. */
export function printResultAims(all: readonly ResultsMeasured[]): void {
  const rows = [...Map.groupBy(all, ({ load }) => load.share)].flatMap(([share, some]) => [
    ...some.flatMap((one) => aims.map(({ what, atMost, got }) => rowOf(nameOf(one.load), what, got(one), atMost))),
    ...(some.length < 2 ? [] : [storedRow(share, some)]),
  ]);
  printTable(['', 'aim', 'at most', 'got', ''], rows);
}

function rowOf(name: string, what: string, got: number, atMost: number): string[] {
  return [name, what, figure(atMost), figure(got), got <= atMost ? 'met' : 'not met'];
}

// How far what is stored falls as the offer grows, below the best of smaller offers.
function storedRow(share: number | null, some: readonly ResultsMeasured[]): string[] {
  const byOffer = some.toSorted((a, b) => a.load.perSecond - b.load.perSecond);
  let best = 0;
  let fall = 0;
  for (const { perSecond } of byOffer) {
    best = Math.max(best, perSecond.stored);
    fall = Math.max(fall, 1 - perSecond.stored / best);
  }
  const name = share === null ? 'all of them' : `all with ${share} core`;
  return rowOf(name, 'stored falls as the offer grows, share', fall, 1 - leastOfBest);
}
