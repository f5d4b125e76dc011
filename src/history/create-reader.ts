import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '#kernel/clock.ts';
import { budgetOf, periodAt } from './budget.ts';
import { cursorOf, parseCursor } from './cursor.ts';
import { figuresOf, type FiguresSource, readSpan } from './figures.ts';
import { lastRounds } from './rounds.ts';
import { targetsNow } from './now.ts';
import type {
  BudgetFigures,
  HistoryFigures,
  FiguresQuery,
  HistoryReader,
  HistoryTarget,
  NodeFigures,
  Selection,
  TargetBudget,
  TargetFigures,
  TargetPage,
} from './reader.ts';
import { readSeries } from './series.ts';
import type { HistorySource } from './source.ts';
import type { TimeSpan } from './span.ts';
import { verdictSpansIn } from './verdict-periods.ts';

export interface ReaderOptions {
  readonly source: HistorySource;
  /** What is configured at this moment. */
  readonly targets: () => readonly HistoryTarget[];
  readonly clock: Clock;
}

const defaultPage = 50;

/** A reader that gives other work a turn between any two targets. */
export function createReader({ source, targets, clock }: ReaderOptions): HistoryReader {
  function namesOf(of: Selection = { all: true }): readonly string[] {
    if ('target' in of) return [of.target];
    return known(of).map(({ name }) => name);
  }

  function known(of: Selection = { all: true }): readonly HistoryTarget[] {
    const all = targets().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    if ('target' in of) return all.filter(({ name }) => name === of.target);
    return 'label' in of ? all.filter(({ labels }) => labels[of.label] === of.value) : all;
  }

  const cut = ({ from, to }: TimeSpan): TimeSpan => ({ from, to: Math.max(from, Math.min(to, clock.now())) });
  const read = (target: string, query: FiguresQuery) =>
    readSpan(source, target, query.node ?? null, cut(query), clock.now());

  async function readAll({ of, ...query }: FiguresQuery): Promise<readonly FiguresSource[]> {
    const all: FiguresSource[] = [];
    for (const target of namesOf(of)) {
      all.push(read(target, query));
      await nextTurn();
    }
    return all;
  }

  function budgetAt(target: HistoryTarget | undefined, to: number): BudgetFigures | null {
    if (target === undefined || target.objective === null) return null;
    const period = periodAt(target.objective, to);
    const span = cut({ from: period.from, to });
    const { time } = figuresOf([readSpan(source, target.name, null, span, clock.now(), 'time')], span, null);
    return time === null ? null : budgetOf(period.objective, time);
  }

  return {
    now: async (of, page, signal) =>
      targetsNow(
        source,
        onPage(known(of), page, ({ name }) => name),
        clock,
        signal,
      ),
    async rounds(target, { before = clock.now() + 1, limit }) {
      return lastRounds(source, target, { before, limit });
    },
    series: async ({ of, ...query }) => readSeries(source, namesOf(of), { ...query, ...cut(query) }, clock.now()),
    async periods(target, asked) {
      const span = cut(asked);
      return verdictSpansIn(span, source.periods(target, span), clock.now());
    },
    async figures(query) {
      return figuresOf(await readAll(query), cut(query), query.node ?? null);
    },
    async byTarget(query, page) {
      const byName = new Map(targets().map((target) => [target.name, target]));
      const all: TargetFigures[] = [];
      for (const target of onPage(namesOf(query.of), page, (name) => name)) {
        const figures: HistoryFigures = figuresOf([read(target, query)], cut(query), query.node ?? null);
        const budget = query.node === undefined ? budgetAt(byName.get(target), cut(query).to) : null;
        all.push({ target, ...figures, budget });
        await nextTurn();
      }
      return all;
    },
    async byNode(query) {
      const all: NodeFigures[] = [];
      for (const node of source.nodes()) {
        const figures = figuresOf(await readAll({ ...query, node }), cut(query), node);
        const { up, down, unknown } = figures.answers;
        if (up + down + unknown > 0) all.push({ node, ...figures });
      }
      return all;
    },
    async incidents({ from = 0, to = clock.now() + 1, limit = defaultPage, after, ...which }) {
      const { target = null, isOpen = null, severity, isHeld } = which;
      const cursor = after === undefined ? null : parseCursor(after);
      const query = { from, to, target, isOpen, severity, isHeld, after: cursor };
      const found = source.incidents({ ...query, limit: limit + 1 });
      const incidents = found.slice(0, limit);
      const last = incidents.at(-1);
      return { incidents, next: found.length > limit && last !== undefined ? cursorOf(last) : null };
    },
    exclusions: async ({ target, ...span }) => source.exclusions(target ?? null, span),
    incident: async (id) => source.incident(id),
    async budgets() {
      const all: TargetBudget[] = [];
      for (const target of known()) {
        const budget = budgetAt(target, clock.now());
        if (budget === null) continue;
        all.push({ target: target.name, ...budget });
        await nextTurn();
      }
      return all;
    },
    nodes: async () => source.nodes(),
    async kept() {
      const { resultsFrom, hoursFrom, daysFrom } = source.kept();
      return { resultsFrom, hoursFrom, daysFrom };
    },
  };
}

function onPage<Row>(rows: readonly Row[], page: TargetPage | undefined, nameOf: (row: Row) => string): readonly Row[] {
  if (page === undefined) return rows;
  const { after, limit } = page;
  return (after === undefined ? rows : rows.filter((row) => nameOf(row) > after)).slice(0, limit);
}
