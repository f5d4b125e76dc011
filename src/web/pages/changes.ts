import { z } from 'zod';
import type { TargetChange } from '#history/changes.ts';
import { dayMs } from '#kernel/units.ts';
import { foreign, html, type Markup, moment, nothing } from './markup.ts';
import { texts } from './texts.ts';

const Certificate = z.object({
  subject: z.string(),
  issuer: z.string(),
  valid_to: z.string(),
  fingerprint: z.string(),
});

const mostShown = 20;

/** What nodes saw from then on; those that saw the same at about the same time are one entry. */
interface ChangeHistory {
  readonly value: string;
  readonly nodes: string[];
  readonly since: number;
  /** The nodes that still see it. */
  readonly now: string[];
}

/** The certificate and what it was before; nothing if none was seen. */
export function certificates(changes: readonly TargetChange[], now: number): Markup {
  const seen = groupByValue(changes, 'certificate');
  if (seen.length === 0) return nothing;
  const words = texts.target;
  const rows = seen.map((one) => {
    const { subject, issuer, valid_to: validTo, fingerprint } = Certificate.parse(JSON.parse(one.value));
    const days = (Date.parse(validTo) - now) / dayMs;
    const left = one.now.length === 0 ? nothing : html` <span class="soft">${words.left(days)}</span>`;
    return html`<tr>${head(one)}<td class="wrap">${foreign(subject)}</td><td class="wrap">${foreign(issuer)}</td><td>${moment(Date.parse(validTo), 'day')}${left}</td><td class="mono wide" title="${fingerprint}">${fingerprint.slice(0, 23)}…</td></tr>`;
  });
  return section(words.certificates, [words.subject, words.issuer, words.validTo], rows, words.fingerprint);
}

/** For how many days the certificate that is seen now is valid; the shortest if nodes see several, null if none was seen. */
export function certificateDaysLeft(changes: readonly TargetChange[], now: number): number | null {
  const current = groupByValue(changes, 'certificate').filter((one) => one.now.length > 0);
  const ends = current.map(({ value }) => Date.parse(Certificate.parse(JSON.parse(value)).valid_to));
  return ends.length === 0 ? null : (Math.min(...ends) - now) / dayMs;
}

/** The answers of name servers, and those before; nothing without an answer. */
export function answers(changes: readonly TargetChange[]): Markup {
  const seen = groupByValue(changes, 'answers');
  if (seen.length === 0) return nothing;
  const words = texts.target;
  const rows = seen.map((one) => {
    const lines: Markup[] =
      one.value === ''
        ? [html`<span class="soft">${words.noAnswers}</span>`]
        : one.value.split('\n').map((line) => html`<div>${foreign(line)}</div>`);
    return html`<tr>${head(one)}<td class="mono wrap">${lines}</td></tr>`;
  });
  return section(words.answersSeen, [words.answersSeen], rows, null);
}

function head({ since, nodes, now }: ChangeHistory): Markup {
  const words = texts.target;
  const state =
    now.length === 0 ? html`<span class="soft">${words.before}</span>` : html`<strong>${words.now}</strong>`;
  return html`<th scope="row">${moment(since)} ${state}</th><td class="wrap">${(now.length === 0 ? nodes : now).join(', ')}</td>`;
}

function section(title: string, columns: readonly string[], rows: Markup[], wide: string | null): Markup {
  const words = texts.target;
  return html`<h2>${title}</h2><div class="scroll" tabindex="0" role="region" aria-label="${title}" data-part="${title}"><table><thead><tr><th scope="col">${words.since}</th><th scope="col">${words.by}</th>${columns.map((name) => html`<th scope="col">${name}</th>`)}${wide === null ? nothing : html`<th scope="col" class="wide">${wide}</th>`}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

function groupByValue(changes: readonly TargetChange[], kind: TargetChange['kind']): readonly ChangeHistory[] {
  const own = changes.filter((change) => change.kind === kind && change.node !== null);
  const newest = new Set<string>();
  const seen: { value: string; nodes: string[]; since: number; now: string[] }[] = [];
  // The newest come first.
  for (const { node, value, at } of own) {
    const name = node ?? '';
    const isNow = !newest.has(name);
    newest.add(name);
    let one = seen.find(
      (other) => other.value === value && isNow === other.now.length > 0 && !other.nodes.includes(name),
    );
    if (one === undefined) seen.push((one = { value, nodes: [], since: at, now: [] }));
    one.since = Math.min(one.since, at);
    one.nodes.push(name);
    if (isNow) one.now.push(name);
  }
  return seen
    .toSorted((a, b) => Number(b.now.length > 0) - Number(a.now.length > 0) || b.since - a.since)
    .slice(0, mostShown);
}
