import { shownNode } from '#checks/index.ts';
import type { IncidentDetail, PastDelivery, PastVote } from '#history/incidents.ts';
import type { PastRound } from '#history/reader.ts';
import { describeDuration, formatSeconds } from '#kernel/units.ts';
import { isAboutUs, sentenceStart } from '#monitor/judge/incident.ts';
import { about, codeLink } from './docs-links.ts';
import { evidenceSection } from './evidence.ts';
import { isNeedless, timelineOf } from './incident-timeline.ts';
import { postMortemHref, targetHref } from './links.ts';
import { foreign, html, type Markup, moment, nothing, shapeOf, state } from './markup.ts';
import { roundsGrid } from './rounds.ts';
import { texts } from './texts.ts';

export interface IncidentValue {
  readonly now: number;
  readonly incident: IncidentDetail;
  /** Rounds during the incident: one stretch of rounds, or the last and the first ones; the newest first. */
  readonly rounds: readonly (readonly PastRound[])[];
  /** Why and until when notifications of its target are suppressed; null if they are not. */
  readonly silence: { readonly why: string; readonly until: number } | null;
  /** Whether the viewer may acknowledge and silence. */
  readonly mayAct: boolean;
}

/** What happened and who knows of it, in two sentences. */
export function incidentSentence({ incident, now }: Pick<IncidentValue, 'incident' | 'now'>): string {
  const { target, word, wording, startedAt, endedAt, cause, votes, deliveries } = incident;
  const down = votes.filter(({ status }) => status === 'down').length;
  const notified = deliveries.filter(({ kind, state: one }) => kind === 'opened' && one === 'sent');
  const [first] = notified;
  const isOpen = endedAt === null;
  return texts.incident.sentence({
    target,
    word,
    own: isAboutUs(target) ? `${sentenceStart(incident)} ${isOpen ? wording.is : wording.was}` : null,
    cause,
    down,
    all: votes.length,
    lasted: describeDuration(Math.max(0, (endedAt ?? now) - startedAt)),
    isOpen,
    notified:
      first === undefined
        ? null
        : {
            who: first.recipient,
            others: notified.length - 1,
            after: describeDuration(Math.max(0, (first.settledAt ?? first.createdAt) - startedAt)),
          },
  });
}

export function incidentContent(value: IncidentValue): Markup {
  const { incident, silence, mayAct } = value;
  const words = texts.incident;
  const { target, word, subject, condition, startedAt, openedAt, endedAt, severity, held, acknowledged } = incident;
  // No node votes on us.
  const isOwn = isAboutUs(target);
  const fact = (name: string, what: Markup | string) => html`<div><dt>${name}</dt><dd>${what}</dd></div>`;
  return html`<div data-part="head"><h1>${state(endedAt === null ? shapeOf(word) : 'up', '')} ${foreign(incidentSentence(value))}</h1>
<p class="lead">${isOwn ? nothing : html`<a href="${targetHref(target)}">${target}</a>, `}${foreign(subject)}</p></div>
<div class="paper" data-part="facts"><dl class="facts">${fact(words.rule, html`${condition}${about('rules', words.rule)}`)}${fact(words.severity, severity)}${fact(isOwn ? words.ownBegan : words.began, moment(startedAt))}${fact(words.opened, moment(openedAt))}${fact(words.ended, endedAt === null ? words.open : moment(endedAt))}${held === null ? nothing : fact(words.held, html`${held}${about('suppression', words.held)}`)}${acknowledged === null ? nothing : fact(words.acknowledged, html`${foreign(acknowledged.why)} ${moment(acknowledged.at)}`)}${silence === null ? nothing : fact(words.silenced, html`${foreign(silence.why)}, ${words.until} ${moment(silence.until)}`)}${incident.exclusions.map(({ from, to, why, target: of }) => fact(words.excluded, html`${foreign(why)}, ${moment(from)} ${words.until} ${moment(to)}${of === null ? ` (${words.allTargets})` : ''}`))}</dl></div>
${endedAt === null && mayAct ? actions(incident) : nothing}
${isOwn ? nothing : votesOf(incident)}
${evidenceSection(incident.evidence)}
<h2>${words.timeline}</h2><div data-part="timeline">${timeline(incident)}</div>
<p class="row"><button class="quiet" type="button" data-copy="${words.postMortem.copied}" data-from="${postMortemHref(incident.id)}">${words.postMortem.copy}</button> <a href="${postMortemHref(incident.id)}">${words.postMortem.open}</a></p>
${isOwn ? nothing : html`<h2>${words.meanwhile}</h2><div data-part="rounds">${roundsMarkup(value)}</div>`}
<h2>${words.deliveries}</h2><div data-part="deliveries">${deliveryTable(incident)}</div>
<p class="small soft">${words.id} <span class="mono wrap">${incident.id}</span></p>`;
}

function votesOf(incident: IncidentDetail): Markup {
  const words = texts.incident;
  return html`<div class="cols"><section><h2>${words.votesOpened}</h2>${voteTable(incident.votes)}</section>${incident.closingVotes === null ? nothing : html`<section><h2>${words.votesClosed}</h2>${voteTable(incident.closingVotes)}</section>`}</div>`;
}

function actions({ id, target, acknowledged }: IncidentDetail): Markup {
  const words = texts.incident;
  const acknowledge =
    acknowledged !== null
      ? nothing
      : html`<form class="paper ask" method="post" action="/actions/acknowledge"><input type="hidden" name="incident" value="${id}"><div><label for="why">${words.acknowledge}</label><input type="text" id="why" name="why" required maxlength="200" placeholder="${words.whyAcknowledge}"><p class="hint">${words.acknowledgeHint}</p></div><div><button>${words.acknowledgeButton}</button></div></form>`;
  // A silence is of targets.
  const silence = isAboutUs(target)
    ? nothing
    : html`<form class="paper ask" method="post" action="/actions/silence"><input type="hidden" name="incident" value="${id}"><input type="hidden" name="target" value="${target}"><div><label for="for">${words.silence}</label><div class="row"><select id="for" name="for">${['1h', '4h', '1d', '7d'].map((one) => html`<option>${one}</option>`)}</select></div></div><div><label for="because">${words.because}</label><input type="text" id="because" name="why" required maxlength="200"></div><div><button class="quiet">${words.silenceButton}</button></div></form>`;
  return html`<div class="cols" data-part="actions">${acknowledge}${silence}</div>`;
}

function voteTable(votes: readonly PastVote[]): Markup {
  const { report } = texts;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${texts.incident.votes}"><table class="cards"><thead><tr><th scope="col">${report.node}</th><th scope="col">${report.result}</th><th scope="col" class="num">${report.time}</th><th scope="col">${texts.incident.what}</th></tr></thead><tbody>${votes.map(
    ({ node, place, status, seconds, message, code, address }) =>
      html`<tr><th scope="row">${shownNode(node)}<div class="small soft">${place}</div></th><td>${state(status, texts.states[status])}</td><td class="num">${seconds === null ? '' : formatSeconds(seconds)}</td><td class="wrap">${message === null ? nothing : foreign(message)} <span class="mono soft">${address ?? ''}</span>${code === null ? nothing : html` <span class="soft">${codeLink(code)}</span>`}</td></tr>`,
  )}</tbody></table></div>`;
}

function timeline(incident: IncidentDetail): Markup {
  const entries = timelineOf(incident);
  const lines = entries.map(({ at, state: verdict, words, detail }, index) => {
    const gapMs = at - (entries[index - 1]?.at ?? at);
    const gap =
      gapMs < 1_000 ? nothing : html` <span class="small soft">${texts.incident.after(describeDuration(gapMs))}</span>`;
    const what =
      verdict === null
        ? html`${words}`
        : html`${state(verdict, texts.states[verdict])} <span class="soft">${words}</span>`;
    return html`<li>${moment(at)}${gap} ${what}${detail === null ? nothing : html`: ${foreign(detail)}`}</li>`;
  });
  return html`<ol class="times">${lines}</ol>`;
}

function roundsMarkup({ rounds }: IncidentValue): Markup {
  const words = texts.incident;
  const [last, first] = rounds;
  if (last === undefined) return html`<p class="soft">${words.notKept}</p>`;
  const [from, to] = [first?.at(0)?.dueAt, last.at(-1)?.dueAt];
  if (first === undefined || from === undefined || to === undefined) return roundsGrid(last);
  return html`${roundsGrid(first)}<p class="small soft">${words.leftOut(describeDuration(to - from))}</p>${roundsGrid(last)}`;
}

function stateOf(delivery: PastDelivery, endedAt: number | null): Markup {
  const words = texts.incident;
  return isNeedless(delivery, endedAt)
    ? html`<span class="soft">${words.needless}</span>`
    : state(words.shapes[delivery.state], words.delivery[delivery.state]);
}

function deliveryTable({ deliveries, endedAt }: IncidentDetail): Markup {
  const words = texts.incident;
  if (deliveries.length === 0) return html`<p class="soft">${words.noDeliveries}</p>`;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.deliveries}"><table class="cards"><thead><tr><th scope="col">${words.to}</th><th scope="col">${words.kind}</th><th scope="col">${words.state}</th><th scope="col">${words.when}</th><th scope="col" class="num">${words.attempts}</th><th scope="col">${words.trouble}</th></tr></thead><tbody>${deliveries.map(
    (delivery) => {
      const { channel, recipient, kind, number, createdAt, settledAt, attempts, lastError } = delivery;
      return html`<tr><th scope="row" class="wrap">${recipient} <span class="soft">${channel}</span></th><td data-label="${words.kind}">${words.kinds[kind]}${number > 1 ? ` ${number}` : ''}</td><td>${stateOf(delivery, endedAt)}</td><td data-label="${words.when}">${moment(settledAt ?? createdAt)}</td><td class="num" data-label="${words.attempts}">${attempts}</td><td class="wrap">${lastError === null ? nothing : foreign(lastError)}</td></tr>`;
    },
  )}</tbody></table></div>`;
}
