import { html, type Markup } from './markup.ts';
import { texts } from './texts.ts';

/** A call that failed, for people. */
export interface ProblemValue {
  readonly status: number;
  readonly code: string;
  readonly message: string;
}

export function problemContent({ status, code, message }: ProblemValue): Markup {
  return html`<h1>${texts.problems.title(status)}</h1>
    <p class="lead wrap said">${message}</p>
    <p class="row"><a class="button" href="/">${texts.problems.home}</a></p>
    <p class="small soft">${texts.problems.code} ${status} <span class="mono">${code}</span></p>`;
}
