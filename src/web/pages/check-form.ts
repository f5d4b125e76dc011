import { type CheckTypeName, checkOf, type NodeInfo, startableTypeNames } from '#checks/index.ts';
import { foreign, html, type Markup, nothing } from './markup.ts';
import { texts } from './texts.ts';
import { about } from './docs-links.ts';

export interface CheckFormValue {
  /** What to begin with. */
  readonly type: CheckTypeName;
  readonly host: string;
  readonly nodes: readonly NodeInfo[];
  readonly maxNodes: number;
  /** Why what was entered cannot be checked. */
  readonly objection?: string;
}

/** The form that starts a check of any type. */
export function checkForm({ type, host, nodes, maxNodes, objection }: CheckFormValue): Markup {
  const words = texts.check;
  const counts = [3, 10, 25].filter((count) => count < Math.min(nodes.length, maxNodes));
  // Each button names its own type, so that the form works without scripts; the return key takes the first.
  const types = startableTypeNames
    .map(checkOf)
    .filter((one) => !one.signsIn || one.type === type)
    .toSorted((one, other) => Number(other.type === type) - Number(one.type === type));
  const buttons = types.map(
    (one) =>
      html`<button
        name="type"
        value="${one.type}"
        ${one.type === type ? nothing : html` class="quiet"`}
        title="${one.summary}"
      >
        ${one.type}
      </button>`,
  );
  return html`<h1>${words.title}</h1>
    <p class="lead">${words.lead(nodes.length)}${about('checks', words.title)}</p>
    ${objection === undefined ? nothing : html`<div class="notice down" role="alert"><p class="said">${foreign(objection)}</p></div>`}
    <form class="ask paper" method="post" action="/api/v1/checks">
      <div>
        <label for="host">${words.host}</label>
        <input
          type="text"
          id="host"
          name="host"
          value="${host}"
          placeholder="${words.example}"
          required
          maxlength="2048"
          autocomplete="off"
          autocapitalize="off"
          spellcheck="false"
          inputmode="url"
          aria-describedby="host-hint"
          ${host === '' ? html` autofocus` : nothing}
        />
        <p class="hint" id="host-hint">${words.hostHint}</p>
      </div>
      ${
        counts.length === 0
          ? nothing
          : html`<div>
              <label for="max">${words.from}</label
              ><select id="max" name="max_nodes">
                <option value="">${words.all}</option>
                ${counts.map((count) => html`<option>${count}</option>`)}
              </select>
            </div>`
      }${
        nodes.length < 2
          ? nothing
          : html`<details>
              <summary>${words.named}</summary>
              <fieldset class="choices">
                <legend class="hint">${texts.nodes.title}</legend>
                ${nodes.map(
                  ({ name, city, country }) =>
                    html`<label class="choice"
                      ><input type="checkbox" name="node" value="${name}" />${name}
                      <span class="soft">${city || country}</span></label
                    >`,
                )}
              </fieldset>
            </details>`
      }
      <div>
        <span class="label" id="what">${words.what}</span>
        <div class="choices" role="group" aria-labelledby="what">${buttons}</div>
      </div>
    </form>
    <dl class="facts kinds">
      ${types.map(
        (one) =>
          html`<div>
            <dt>${one.type}</dt>
            <dd class="small">${one.summary}</dd>
          </div>`,
      )}
    </dl>`;
}
