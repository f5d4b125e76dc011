import { describeLeft } from '#history/budget.ts';
import { countOf, singleLine } from '#kernel/text.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import { formatSpan, formatTime } from '#kernel/zoned-time.ts';
import type { Incident } from '../judge/incident.ts';
import { cells, type ContentTable } from './content-tables.ts';
import { type MessageContent, subjectOf } from './content.ts';
import type { SummaryFacts } from './summary-facts.ts';

const longestTable = 50;
const shortTable = 10;

/** What a summary says about a stretch of time. */
export function summaryContent(
  { from, to, knownFrom, targets, uptime: ratio, incidents }: SummaryFacts,
  zone: string,
): MessageContent {
  const open = incidents.filter(({ endedAt }) => endedAt === null);
  const up = targets.reduce((sum, one) => sum + one.up, 0);
  const answers = targets.reduce((sum, one) => sum + one.up + one.down, 0);
  const unknown = targets.reduce((sum, one) => sum + one.unknown, 0);
  const uptime = ratio === null ? 'no verdicts' : `${share(ratio, 1)} up`;
  const counted = `${countOf(incidents.length, 'incident')}${open.length === 0 ? '' : `, ${open.length} still open`}`;
  return {
    kind: 'summary',
    tone: open.length > 0 ? 'bad' : 'good',
    subject: subjectOf('SUMMARY', countOf(targets.length, 'target'), `${uptime}, ${counted}`),
    headline: `${countOf(targets.length, 'target')}: ${uptime}, ${counted}`,
    remarks:
      knownFrom <= from
        ? []
        : [
            `There are no results from before ${formatTime(knownFrom, zone)}: they were deleted, or nothing was measured.`,
          ],
    facts: [
      ['Period', formatSpan(from, to, zone)],
      ['Answers', `${answers}, of them ${up} up`],
      ['Unknown', unknown === 0 ? 'none' : `${unknown}, which count for neither side`],
    ],
    tables: [
      ...(incidents.length === 0 ? [] : [incidentTable(incidents, to, zone)]),
      ...byTarget(targets),
      ...slowest(targets),
    ],
    link: null,
    footer: 'Summary of Watchpost',
  };
}

function incidentTable(incidents: readonly Incident[], to: number, zone: string): ContentTable {
  const rest = incidents.slice(longestTable);
  return {
    title: 'Incidents',
    columns: ['target', 'rule', 'state', 'from', 'lasted', 'why'],
    rows: incidents
      .slice(0, longestTable)
      .map((one) => [
        ...cells(singleLine(one.target, 60), singleLine(one.rule)),
        one.endedAt === null ? { text: 'open', tone: 'bad' } : { text: 'over', tone: 'good' },
        ...cells(
          formatTime(one.startedAt, zone),
          describeDuration(Math.max((one.endedAt ?? to) - one.startedAt, 0)),
          singleLine(one.cause, 120),
        ),
      ]),
    more: rest.length === 0 ? null : `and ${rest.length} more`,
  };
}

// Every target, the worst first.
function byTarget(targets: SummaryFacts['targets']): readonly ContentTable[] {
  if (targets.length === 0) return [];
  const sorted = targets.toSorted((a, b) => (a.uptime ?? 2) - (b.uptime ?? 2) || (a.target < b.target ? -1 : 1));
  const hasBudgets = targets.some(({ budget }) => budget !== null);
  const rest = sorted.slice(longestTable);
  const rows = sorted
    .slice(0, longestTable)
    .map(({ target, uptime, p95Seconds, down, budget }) =>
      cells(
        singleLine(target, 60),
        uptime === null ? '-' : share(uptime, 1),
        p95Seconds === null ? '-' : formatSeconds(p95Seconds),
        String(down),
        ...(hasBudgets ? [budget === null ? '-' : describeLeft(budget.left)] : []),
      ),
    );
  const more = rest.length === 0 ? null : `and ${rest.length} more, none of them worse`;
  return [
    { title: 'Uptime', columns: ['target', 'up', 'p95', 'failed', ...(hasBudgets ? ['budget left'] : [])], rows, more },
  ];
}

function slowest(targets: SummaryFacts['targets']): readonly ContentTable[] {
  const rows = targets
    .flatMap(({ target, meanSeconds: mean, longestSeconds: longest }) =>
      mean === null || longest === null ? [] : [{ target, mean, longest }],
    )
    .toSorted((a, b) => b.mean - a.mean)
    .slice(0, shortTable)
    .map(({ target, mean, longest }) => cells(singleLine(target, 60), formatSeconds(mean), formatSeconds(longest)));
  return rows.length === 0 ? [] : [{ title: 'Slowest', columns: ['target', 'mean', 'longest'], rows, more: null }];
}

// Rounded down: what was not always up never reads 100%.
function share(part: number, whole: number): string {
  return `${Math.floor((part / whole) * 10_000) / 100}%`;
}
