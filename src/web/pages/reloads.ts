import { reloadTexts as words } from './edit-texts.ts';
import { targetHref } from './links.ts';
import { foreign, html, type Markup, nothing, recentMoment } from './markup.ts';
import { undoForm } from './new-target.ts';

/** An attempt to reload the configuration, and what it did to targets, by their names. */
export interface ReloadEntry {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly cause: string;
  readonly result:
    | {
        readonly ok: true;
        readonly added: readonly string[];
        readonly changed: readonly string[];
        readonly removed: readonly string[];
        /** Keys that take effect after a restart only. */
        readonly needsRestart: readonly string[];
      }
    | { readonly ok: false; readonly problems: readonly string[] };
}

export const reloadTitle = words.title;

/** The last reload in a line that leads to all of them. */
export function reloadPart(last: ReloadEntry | null): Markup {
  return html`<div data-part="reload">${last === null ? nothing : lineOf(last)}</div>`;
}

function lineOf({ at, result }: ReloadEntry): Markup {
  if (!result.ok) return html`<p class="notice down">${words.invalidLine} <a href="/changes">${words.title}</a></p>`;
  return html`<p class="small">${words.line} ${recentMoment(at)}: <a href="/changes">${words.summary(countsOf(result))}</a></p>`;
}

const countsOf = ({ added, changed, removed }: Extract<ReloadEntry['result'], { ok: true }>) => ({
  added: added.length,
  changed: changed.length,
  removed: removed.length,
});

export interface ReloadViewer {
  /** Whether the viewer may read what is wrong in the files. */
  readonly mayReadProblems: boolean;
  readonly canUndo: boolean;
}

/** All reloads since the start. */
export function reloadsContent(reloads: readonly ReloadEntry[], { mayReadProblems, canUndo }: ReloadViewer): Markup {
  const rows = reloads.map(({ at, cause, result }) => {
    const head = html`<th scope="row">${recentMoment(at)}</th><td class="wrap">${cause}</td>`;
    if (!result.ok) {
      const problems = mayReadProblems ? result.problems.map((one) => html`<div>${foreign(one)}</div>`) : [];
      return html`<tr>${head}<td class="wrap" colspan="3"><strong>${words.invalid}</strong>${problems}</td></tr>`;
    }
    const { added, changed, removed, needsRestart } = result;
    const restart = needsRestart.length === 0 ? nothing : html`<div class="soft">${words.restart(needsRestart)}</div>`;
    return html`<tr>${head}<td class="wrap">${links(added)}</td><td class="wrap">${links(changed)}${restart}</td><td class="wrap">${names(removed)}</td></tr>`;
  });
  const columns = words.columns.map((name) => html`<th scope="col">${name}</th>`);
  const table = html`<p class="lead">${words.lead}</p><div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table><thead><tr>${columns}</tr></thead><tbody>${rows}</tbody></table></div>`;
  return html`<div data-part="reloads"><h1>${words.title}</h1>${reloads.length === 0 ? html`<p class="soft">${words.none}</p>` : table}${canUndo ? undoForm : nothing}</div>`;
}

const mostNames = 50;

function listOf(all: readonly string[], show: (name: string) => Markup): Markup {
  if (all.length === 0) return html`–`;
  const shown = all.slice(0, mostNames).map((name, index) => html`${index === 0 ? nothing : ', '}${show(name)}`);
  return html`${shown}${all.length > mostNames ? html` ${words.more(all.length - mostNames)}` : nothing}`;
}

const links = (all: readonly string[]) => listOf(all, (name) => html`<a href="${targetHref(name)}">${name}</a>`);
const names = (all: readonly string[]) => listOf(all, (name) => html`${name}`);
