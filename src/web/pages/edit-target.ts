import type { TargetPlace } from './edit-routes.ts';
import { editTexts } from './edit-texts.ts';
import { lineDiff } from './line-diff.ts';
import { targetHref } from './links.ts';
import { foreign, html, type Markup, nothing } from './markup.ts';
import { removalForm } from './new-target.ts';
import { about } from './docs-links.ts';

const words = editTexts.edit;

/** Lines of a target that are being edited, and what came of them. */
export interface EditedTarget {
  readonly name: string;
  readonly place: TargetPlace;
  /** Its lines in the file as they were shown. */
  readonly seen: string;
  readonly lines: string;
  /** What is wrong, a line for each mistake, as errors of the configuration say it. */
  readonly objections: readonly string[];
  /** The check that was started with them. */
  readonly run: string | null;
  /** The name and the file that they would be saved under; null until they are found good. */
  readonly review: { readonly name: string; readonly file: string } | null;
  readonly canTry: boolean;
}

const placeWords = ({ file, line }: TargetPlace) => `${file}:${line}`;

/** The lines of a target to edit, and before they are saved what is different in them. */
export function editedTarget(value: EditedTarget): Markup {
  const { name, place, seen, lines, objections, run, review, canTry } = value;
  const rows = Math.min(Math.max(lines.split('\n').length + 2, 8), 40);
  const isSame = lineDiff(seen, lines).every(({ kind }) => kind === 'same');
  return html`<h1>${words.title(name)}</h1>
${objections.length === 0 ? nothing : html`<div class="notice down" role="alert">${objections.map((one) => objection(one, value))}</div>`}
<p class="lead">${words.lead(placeWords(place))}${about('editing', words.title(name))}</p>
<form class="ask paper" method="post" action="/actions/targets/edit">
<input type="hidden" name="target" value="${name}"><input type="hidden" name="seen" value="${JSON.stringify(seen)}">${review === null ? nothing : html`<input type="hidden" name="reviewed" value="${JSON.stringify(lines)}">`}
<div><label for="lines">${words.lines}</label><textarea id="lines" name="lines" class="mono" rows="${rows}" maxlength="${mostCharacters}" spellcheck="false" autocapitalize="off" autocomplete="off" required>
${lines}</textarea></div>
${review === null ? nothing : difference(value, isSame)}
<div class="row">${canTry ? html`<button class="quiet" name="step" value="try">${words.check}</button>` : nothing}${
    review === null || isSame
      ? html`<button name="step" value="show">${words.show}</button>`
      : html`<button class="quiet" name="step" value="show">${words.show}</button><button name="step" value="save">${words.save}</button>`
  }</div>
</form>
${run === null ? nothing : html`<p><a href="/check-report/${run}" target="_blank" rel="noopener">${editTexts.results}</a></p>`}
<p><a href="${targetHref(name)}">${name}</a></p>`;
}

/** The most characters that a target's lines may have in the form. */
export const mostCharacters = 50_000;

function difference({ name, seen, lines, review }: EditedTarget, isSame: boolean): Markup {
  const renamed =
    review === null || review.name === name ? nothing : html`<p class="notice">${words.renamed(name, review.name)}</p>`;
  if (isSame || review === null) return html`<p role="status">${words.same}</p>`;
  return html`<section role="status"><h2>${words.difference}</h2>${diffMarkup(seen, lines)}${renamed}<p>${words.confirm(review.file)}</p></section>`;
}

function diffMarkup(before: string, after: string): Markup {
  const marks = { same: ' ', added: '+', removed: '−' } as const;
  return html`<pre class="diff">${lineDiff(before, after).map(({ kind, text }) =>
    kind === 'same'
      ? html`<span>${marks.same} ${text}</span>`
      : html`<span class="${kind}"><span aria-hidden="true">${marks[kind]} </span><span class="vh">${words[kind]}: </span>${text}</span>`,
  )}</pre>`;
}

// `file:line:column: what`, with the line as it is counted in the form.
function objection(message: string, { place, lines }: EditedTarget): Markup {
  const [, at = '', what = ''] = message.startsWith(`${place.file}:`)
    ? (/^:(\d+):\d+: (.*)$/.exec(message.slice(place.file.length)) ?? [])
    : [];
  const line = Number(at) - place.line + 1;
  const text = at === '' ? undefined : lines.split(/\r?\n/)[line - 1];
  if (text === undefined) return html`<p>${foreign(message)}</p>`;
  return html`<p>${words.line(line)}<code>${text.trim()}</code>: ${foreign(what)}</p>`;
}

/** That a target's lines in the file are others than those that an edit began with. */
export function editConflict(
  { name, seen, lines }: Pick<EditedTarget, 'name' | 'lines' | 'seen'>,
  now: string | null,
): Markup {
  return html`<h1>${words.title(name)}</h1>
<div class="notice down" role="alert"><p>${now === null ? words.gone(name) : words.conflict(name)}</p></div>
${now === null ? nothing : html`<div class="paper">${diffMarkup(seen, now)}</div><p><a href="${targetHref(name)}/edit">${words.fresh}</a></p>`}
<h2>${words.yours}</h2><div class="paper"><pre>${lines}</pre></div>`;
}

/** Edits and removes a target; of one that people have to change by hand, where it is written. */
export function editingOf(name: string, place: TargetPlace | null): Markup {
  if (place === null) return html`<p class="soft">${words.elsewhere}</p>`;
  if (place.byHand !== null) return html`<p class="soft">${words.by(placeWords(place), place.byHand)}</p>`;
  return html`<div class="row"><a class="button quiet" href="${targetHref(name)}/edit">${words.link}</a>${removalForm(name)}<span class="soft small">${words.usual(placeWords(place))}</span></div>`;
}
