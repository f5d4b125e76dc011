import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '#kernel/clock.ts';
import { budgetOf } from './budget.ts';
import { figuresOf, partsRead, type Read, readSpan } from './figures.ts';
import { cursorOf, parseCursor } from './cursor.ts';
import type {
  Figures,
  FiguresQuery,
  HistoryReader,
  KnownTarget,
  NodeFigures,
  PastRound,
  Selection,
  SeriesQuery,
  TargetBudget,
  TargetFigures,
  TargetNow,
} from './reader.ts';
import type { HistorySource, PastResult } from './source.ts';
import { dayMs, hourMs, partsOf, type Span, stepFor } from './span.ts';
import type { Spell } from './spells.ts';

export interface ReaderOptions {
  readonly source: HistorySource;
  /** What is configured at this moment. */
  readonly targets: () => readonly KnownTarget[];
  readonly clock: Clock;
}

const longestLookBackMs = 7 * dayMs;
const defaultPoints = 300;
const defaultPage = 50;

/** A reader that gives other work a turn between any two targets. */
export function createReader({ source, targets, clock }: ReaderOptions): HistoryReader {
  function namesOf(of: Selection = { all: true }): readonly string[] {
    if ('target' in of) return [of.target];
    return known(of).map(({ name }) => name);
  }

  function known(of: Selection = { all: true }): readonly KnownTarget[] {
    const all = targets().toSorted((a, b) => (a.name < b.name ? -1 : 1));
    if ('target' in of) return all.filter(({ name }) => name === of.target);
    return 'label' in of ? all.filter(({ labels }) => labels[of.label] === of.value) : all;
  }

  const cut = ({ from, to }: Span): Span => ({ from, to: Math.max(from, Math.min(to, clock.now())) });
  const read = (target: string, query: FiguresQuery) =>
    readSpan(source, target, query.node ?? null, cut(query), clock.now());

  async function readAll({ of, ...query }: FiguresQuery): Promise<readonly Read[]> {
    const all: Read[] = [];
    for (const target of namesOf(of)) {
      all.push(read(target, query));
      await nextTurn();
    }
    return all;
  }

  function budgetAt(target: KnownTarget | undefined, to: number): TargetBudget | null {
    if (target === undefined || target.objective === null) return null;
    const span = cut({ from: to - target.objective.overMs, to });
    const { time } = figuresOf([readSpan(source, target.name, null, span, clock.now(), 'time')], span, null);
    return time === null ? null : { target: target.name, ...budgetOf(target.objective, time) };
  }

  async function series({ of, stepMs, points = defaultPoints, ...query }: SeriesQuery) {
    const span = cut(query);
    const { resultsFrom, hoursFrom } = source.kept();
    const leastMs = span.from < hoursFrom ? dayMs : span.from < resultsFrom ? hourMs : 0;
    const step = stepMs === undefined ? stepFor(span, points, leastMs) : Math.max(stepMs, leastMs);
    const parts = partsOf(span, step);
    const perTarget: (readonly Read[])[] = [];
    for (const target of namesOf(of)) {
      perTarget.push(partsRead(source, target, query.node ?? null, parts, clock.now()));
      await nextTurn();
    }
    const figures = parts.map((part, index) =>
      figuresOf(
        perTarget.flatMap((reads) => reads[index] ?? []),
        part,
        query.node ?? null,
      ),
    );
    return { ...span, stepMs: step, parts: figures };
  }

  function roundOf(spells: readonly Spell[], votes: readonly PastResult[]): PastRound | null {
    const [first] = votes;
    if (first === undefined) return null;
    const spell = spells.findLast(({ from, last }) => from <= first.dueAt && first.dueAt <= last);
    return { dueAt: first.dueAt, status: spell?.status ?? null, votes: votes.map(nodeResultOf) };
  }

  async function rounds(
    target: string,
    { before = clock.now() + 1, limit }: { readonly before?: number; readonly limit: number },
  ): Promise<readonly PastRound[]> {
    const dues = source.rounds(target, before, before - longestLookBackMs, limit);
    const [newest] = dues;
    const oldest = dues.at(-1);
    if (newest === undefined || oldest === undefined) return [];
    const span = { from: oldest, to: newest + 1 };
    const spells = source.spells(target, span);
    const results = Map.groupBy(source.results(target, null, span), ({ dueAt }) => dueAt);
    return dues.flatMap((dueAt) => roundOf(spells, results.get(dueAt) ?? []) ?? []);
  }

  async function now(of?: Selection): Promise<readonly TargetNow[]> {
    const spells = source.newestSpells();
    const at = clock.now();
    const open = source.incidents({ from: at, to: at + 1, target: null, isOpen: true, after: null, limit: 10_000 });
    const all: TargetNow[] = [];
    for (const target of known(of)) {
      const spell = spells.get(target.name);
      const endsAt = spell === undefined ? at : spell.last + spell.holdsMs;
      const isStale = spell === undefined || endsAt < at;
      const [round = null] = await rounds(target.name, { limit: 1 });
      all.push({
        ...target,
        status: isStale ? 'unknown' : spell.status,
        inMaintenance: !isStale && spell.inMaintenance,
        since: spell === undefined ? null : isStale ? endsAt : spell.from,
        round,
        incidents: open.filter((incident) => incident.target === target.name).toReversed(),
      });
      await nextTurn();
    }
    return all;
  }

  return {
    now,
    rounds,
    series,
    async figures(query) {
      return figuresOf(await readAll(query), cut(query), query.node ?? null);
    },
    async byTarget(query) {
      const byName = new Map(targets().map((target) => [target.name, target]));
      const all: TargetFigures[] = [];
      for (const target of namesOf(query.of)) {
        const figures: Figures = figuresOf([read(target, query)], cut(query), query.node ?? null);
        const budget = query.node === undefined ? budgetAt(byName.get(target), figures.to) : null;
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
    async incidents({ from = 0, to = clock.now() + 1, target = null, isOpen = null, limit = defaultPage, after }) {
      const cursor = after === undefined ? null : parseCursor(after);
      const found = source.incidents({ from, to, target, isOpen, after: cursor, limit: limit + 1 });
      const incidents = found.slice(0, limit);
      const last = incidents.at(-1);
      return { incidents, next: found.length > limit && last !== undefined ? cursorOf(last) : null };
    },
    incident: async (id) => source.incident(id),
    async budgets() {
      const all: TargetBudget[] = [];
      for (const target of known()) {
        const budget = budgetAt(target, clock.now());
        if (budget === null) continue;
        all.push(budget);
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

function nodeResultOf({ node, status, durationUs, failure, lateAt }: PastResult) {
  return { node, status, seconds: durationUs === null ? null : durationUs / 1e6, failure, lateAt };
}
