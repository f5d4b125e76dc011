import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { CheckTypeName } from '#checks/index.ts';
import type { TargetChange } from '#history/changes.ts';
import type { MeasurementStore } from '#history/measurements.ts';
import type { HistoryReader } from '#history/reader.ts';
import type { Clock } from '#kernel/clock.ts';
import type { AccessControl } from '../access/access.ts';
import type { Board, LiveTarget } from '../state/board.ts';
import type { Stream } from '../streams.ts';
import { type ChartSpan, chosenSpan, namedSpan, spans, usualSpan } from './chart-span.ts';
import { chartViewOf } from './chart-view.ts';
import type { TargetEdits } from './edit-routes.ts';
import { editingOf } from './edit-target.ts';
import { chartOf, figuresTable, seriesJson } from './history-values.ts';
import { eventsOf } from './links.ts';
import { jobContent } from './job.ts';
import { nothing } from './markup.ts';
import { changedNotice, undoneNotice } from './new-target.ts';
import { missing, send } from './page-reply.ts';
import type { PastKeeper } from './past.ts';
import type { PageSet } from './site.ts';
import { isMeasured, measuredSpan } from './measured.ts';
import { isJob, targetContent, targetSentence } from './target.ts';

export interface TargetPages {
  readonly site: PageSet;
  readonly reader: HistoryReader;
  readonly board: Board;
  readonly past: PastKeeper;
  /** What changed about a target, the newest first. */
  readonly changesOf: (target: string) => readonly TargetChange[];
  /** What its checks measured under names of their own. */
  readonly measuredOf: MeasurementStore['measured'];
  readonly access: AccessControl;
  /** Null if the configuration cannot be changed on pages. */
  readonly edits: TargetEdits | null;
  /** Whether targets of this type can be checked besides their schedule. */
  readonly canCheck: (type: CheckTypeName) => boolean;
  readonly changeStream: Stream;
  readonly clock: Clock;
}

const Moment = z.iso
  .datetime({ offset: true })
  .transform((text) => Date.parse(text))
  .optional()
  .catch(undefined);
const TargetQuery = z.object({ span: z.enum(spans).optional().catch(undefined), from: Moment, to: Moment });

async function spanOf(query: unknown, target: LiveTarget, { reader, clock }: TargetPages): Promise<ChartSpan> {
  const now = clock.now();
  const { span, from, to } = TargetQuery.parse(query);
  if (from !== undefined && to !== undefined) return chosenSpan({ from, to }, now);
  return namedSpan(span ?? (await usualSpan(reader, target, now)), now);
}

const roundsShown = 60;
const scriptPoints = 300;
const pagePoints = 120;
// How long the first page after a start waits for what was.
export const patienceMs = 150;

const Done = z.object({
  changed: z.string().optional().catch(undefined),
  undone: z.string().optional().catch(undefined),
});

async function editingFor(request: FastifyRequest, { edits, access }: TargetPages, name: string) {
  if (edits === null || access.userOf(request) === null) return { editing: nothing, notice: nothing };
  const { changed, undone } = Done.parse(request.query);
  const notice = changed !== undefined && edits.canUndo ? changedNotice : undone === undefined ? nothing : undoneNotice;
  return { editing: editingOf(name, await edits.placeOf(name)), notice };
}

export function addTarget(app: FastifyInstance, pages: TargetPages): void {
  const { site, reader, board, past, clock, access } = pages;
  app.get<{ Params: { name: string } }>('/targets/:name', async (request, reply) => {
    const target = board.target(request.params.name);
    if (target === null) return missing(reply, site, `there is no target ${request.params.name}`);
    const now = clock.now();
    const span = await spanOf(request.query, target, pages);
    const { name } = target;
    await past.want([name], patienceMs);
    const { incidents } = await reader.incidents({ target: name, limit: 20 });
    const value = {
      now,
      target,
      span,
      view: chartViewOf(request.query),
      chart: await chartOf(pages, target, span, { points: pagePoints }),
      changes: pages.changesOf(name),
      measured: isMeasured(target) ? pages.measuredOf(name, measuredSpan(span)) : null,
      figures: await figuresTable(reader, name, span, now),
      rounds: await reader.rounds(name, { limit: roundsShown }),
      incidents,
      past: past.of(target),
      mayCheck: pages.canCheck(target.check) && access.mayAct(request),
      ...(await editingFor(request, pages, name)),
    };
    return send(
      reply,
      site.page({
        user: access.userOf(request),
        title: targetSentence(value),
        place: 'overview',
        content: isJob(target) ? jobContent(value) : targetContent(value),
        live: eventsOf(name),
        liveOf: name,
        again: value.past === null,
        since: pages.changeStream.version,
        refresh: 30,
        ...(isJob(target) ? {} : { scripts: ['uplot.js'], modules: ['chart.js'], styles: ['uplot.css'] }),
      }),
    );
  });

  app.get<{ Params: { name: string } }>('/targets/:name/series', async (request, reply) => {
    const target = board.target(request.params.name);
    if (target === null) return missing(reply, site, `there is no target ${request.params.name}`);
    const span = await spanOf(request.query, target, pages);
    const { node, view } = chartViewOf(request.query);
    const bandsOf = view === 'smoke' ? { node } : null;
    return reply.send(seriesJson(await chartOf(pages, target, span, { points: scriptPoints, bandsOf })));
  });
}
