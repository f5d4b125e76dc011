import { shownNode } from '#checks/index.ts';
import { evidenceInWords } from '#history/evidence.ts';
import { singleLine } from '#kernel/text.ts';
import { describeDuration } from '#kernel/units.ts';
import { formatTime } from '#kernel/zoned-time.ts';
import { isAboutUs } from '#monitor/judge/incident.ts';
import { evidenceTexts } from './evidence-texts.ts';
import { timelineOf } from './incident-timeline.ts';
import { incidentSentence, type IncidentValue } from './incident.ts';
import { texts } from './texts.ts';

/** An incident as the beginning of a post-mortem in Markdown: facts, timeline and votes, and headings for what people add. Times are UTC. */
export function postMortemOf(value: Pick<IncidentValue, 'incident' | 'now'>, href: string): string {
  const { incident, now } = value;
  const { id, target, subject, condition, severity, startedAt, endedAt, votes } = incident;
  const words = texts.incident;
  const isOwn = isAboutUs(target);
  const at = (moment: number) => formatTime(moment, 'UTC');
  const entries = timelineOf(incident);
  return [
    `# ${escaped(incidentSentence(value))}`,
    '',
    `- **${words.postMortem.target}**: ${isOwn ? '' : `${escaped(target)}, `}${escaped(subject)}`,
    `- **${words.rule}**: ${escaped(condition)} (${severity})`,
    `- **${isOwn ? words.ownBegan : words.began}**: ${at(startedAt)}`,
    `- **${words.ended}**: ${endedAt === null ? words.open : at(endedAt)}`,
    `- **${words.postMortem.lasted}**: ${describeDuration(Math.max(0, (endedAt ?? now) - startedAt))}`,
    ...incident.exclusions.map(
      ({ from, to, why }) => `- **${words.excluded}**: ${at(from)} ${words.until} ${at(to)}, ${escaped(why)}`,
    ),
    `- **${texts.target.incident}**: [${escaped(id)}](${href})`,
    '',
    `## ${words.timeline}`,
    '',
    ...entries.map((entry, index) => {
      const state = entry.state === null ? '' : `${texts.states[entry.state]}, `;
      const detail = entry.detail === null ? '' : `: ${escaped(entry.detail)}`;
      return `- ${at(entry.at)}${gapBefore(entries, index)} ${state}${escaped(entry.words)}${detail}`;
    }),
    '',
    ...evidenceLines(incident.evidence),
    ...(isOwn ? [] : voteLines(votes)),
    ...words.postMortem.headings.flatMap((heading) => [`## ${heading}`, '', '']),
  ].join('\n');
}

function voteLines(votes: IncidentValue['incident']['votes']): readonly string[] {
  const words = texts.incident;
  return [
    `## ${words.votesOpened}`,
    '',
    `| ${texts.report.node} | ${texts.report.result} | ${words.what} |`,
    '| --- | --- | --- |',
    ...votes.map(
      ({ node, place, status, message }) =>
        `| ${escaped(shownNode(node))}, ${escaped(place)} | ${texts.states[status]} | ${escaped(message ?? '')} |`,
    ),
    '',
  ];
}

function evidenceLines(evidence: IncidentValue['incident']['evidence']): readonly string[] {
  const lines = evidenceInWords(evidence);
  if (lines.length === 0) return [];
  return [`## ${evidenceTexts.title}`, '', ...lines.map((line) => `- ${escaped(line)}`), ''];
}

function gapBefore(entries: readonly { readonly at: number }[], index: number): string {
  const [before, entry] = [entries[index - 1], entries[index]];
  const gapMs = before === undefined || entry === undefined ? 0 : entry.at - before.at;
  return gapMs < 1_000 ? '' : ` (+${describeDuration(gapMs)})`;
}

// What targets answer must neither end a cell nor become markup (CommonMark, section 2.4).
function escaped(text: string): string {
  return singleLine(text, 500).replaceAll(/[\\`*_{}[\]<>#|~]/g, String.raw`\$&`);
}
