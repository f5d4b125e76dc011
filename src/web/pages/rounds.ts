import { shownNode } from '#checks/index.ts';
import type { PastRound } from '#history/reader.ts';
import { formatSeconds } from '#kernel/units.ts';
import { html, type Markup, moment, nothing } from './markup.ts';
import { countVotes } from './target-texts.ts';
import { texts } from './texts.ts';

// A grid of fewer rounds leaves room on the left, so that a column never gets wider.
const leastColumns = 20;

/** The votes of rounds, given newest first: a row for each node, a column for each round, the newest on the right. */
export function roundsGrid(rounds: readonly PastRound[]): Markup {
  const words = texts.target;
  const ordered = rounds.toReversed();
  const columns = Math.max(ordered.length, leastColumns);
  const nodes = [...new Set(ordered.flatMap(({ votes }) => votes.map(({ node }) => node)))].sort();
  const rows = nodes.map((node) => {
    const votes = ordered.map((round) => round.votes.find((vote) => vote.node === node));
    const count = (status: string) => votes.filter((vote) => vote?.status === status).length;
    const label = countVotes({ up: count('up'), down: count('down'), unknown: count('unknown') });
    const cells = votes.map((vote, index) => {
      if (vote === undefined) return nothing;
      const [y, h] = vote.status === 'down' ? [0, 14] : vote.status === 'unknown' ? [6, 3] : [3, 9];
      const x = (columns - ordered.length + index) * 10;
      const title = `${new Date(ordered[index]?.dueAt ?? 0).toISOString()} ${texts.states[vote.status]}${vote.seconds === null ? '' : ` ${formatSeconds(vote.seconds)}`}${vote.failure === null ? '' : `: ${vote.failure.message}`}${vote.lateAt === null ? '' : `, ${words.late}`}`;
      return html`<rect class="f-${vote.status}" x="${x}" y="${y}" width="8" height="${h}"><title>${title}</title></rect>${vote.lateAt === null ? nothing : html`<rect class="f-maintenance" x="${x}" y="12" width="8" height="2"/>`}`;
    });
    return html`<tr><th scope="row">${shownNode(node)}</th><td class="grow"><svg class="rounds" viewBox="0 0 ${columns * 10} 14" preserveAspectRatio="none" role="img" aria-label="${shownNode(node)}: ${label}">${cells}</svg></td><td class="num small soft">${label}</td></tr>`;
  });
  const [first] = ordered;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.rounds}"><table><caption>${words.roundsCaption(ordered.length)} ${first === undefined ? '' : moment(first.dueAt)}</caption><tbody>${rows}</tbody></table></div>`;
}
