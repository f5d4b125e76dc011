import { type CheckTypeName, startableTypeNames } from '#checks/index.ts';
import { foreign, html, type Markup, nothing } from './markup.ts';
import { editTexts as words, reloadTexts } from './edit-texts.ts';
import { about } from './docs-links.ts';

/** What was entered so far, what came of it, and what was done before. */
export interface NewTargetValue {
  readonly host: string;
  readonly type: CheckTypeName | '';
  readonly name: string;
  readonly every: string;
  /** The check that was started with it. */
  readonly run: string | null;
  /** What is wrong with it; one line for each mistake. */
  readonly objections: readonly string[];
  /** The target that was removed just now. */
  readonly removed: string | null;
  readonly isUndone: boolean;
  /** Whether nodes can be asked besides the schedule. */
  readonly canTry: boolean;
}

/** The form that adds a target; what was entered stays in it after a mistake. */
export function newTargetContent(value: NewTargetValue): Markup {
  const { host, type, name, every, run, objections, removed, isUndone, canTry } = value;
  const types = startableTypeNames.map(
    (one) => html`<option value="${one}"${one === type ? html` selected` : nothing}>${one}</option>`,
  );
  const text = (id: string, given: string, label: string, hint: string, more: Markup = nothing) =>
    html`<div><label for="${id}">${label}</label><input type="text" id="${id}" name="${id}" value="${given}" maxlength="2048" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="${id}-hint"${more}><p class="hint" id="${id}-hint">${hint}</p></div>`;
  return html`<h1>${words.title}</h1>
${notices({ removed, isUndone, objections })}
<p class="lead">${words.lead}${about('editing', words.title)}</p>
<form class="ask paper" method="post" action="/actions/targets/add">
${text('host', host, words.host, words.hostHint, html` placeholder="${words.example}" required inputmode="url"${host === '' ? html` autofocus` : nothing}`)}
<div><label for="type">${words.type}</label><select id="type" name="type"><option value="">${words.automatic}</option>${types}</select></div>
${text('name', name, words.name, words.nameHint, html` placeholder="${words.proposed}"`)}
${text('every', every, words.every, words.everyHint)}
<div class="row">${canTry ? html`<button class="quiet" formaction="/actions/targets/try">${words.check}</button>` : nothing}<button>${words.add}</button></div>
</form>
${run === null ? nothing : html`<p><a href="/check-report/${run}" target="_blank" rel="noopener">${words.results}</a></p>`}`;
}

function notices({
  removed,
  isUndone,
  objections,
}: Pick<NewTargetValue, 'removed' | 'isUndone' | 'objections'>): Markup {
  return html`${removed === null ? nothing : html`<div class="notice" role="status"><p>${words.removed(removed)}</p>${undoForm}</div>`}${isUndone ? undoneNotice : nothing}${objections.length === 0 ? nothing : html`<div class="notice down" role="alert">${objections.map((line) => html`<p>${foreign(line)}</p>`)}</div>`}`;
}

/** The button that takes the last change back. */
export const undoForm: Markup = html`<form class="row" method="post" action="/actions/targets/undo"><button class="quiet">${words.undo}</button></form>`;

export const undoneNotice: Markup = html`<p class="notice" role="status">${words.undone}</p>`;

/** That a target was added or changed. */
export const changedNotice: Markup = html`<div class="notice" role="status"><p>${words.changed} <a href="/changes">${reloadTexts.title}</a></p>${undoForm}</div>`;

/** The form that removes a target. */
export function removalForm(target: string): Markup {
  return html`<form class="row" method="post" action="/actions/targets/remove"><input type="hidden" name="target" value="${target}"><button class="quiet">${words.remove}</button></form>`;
}
