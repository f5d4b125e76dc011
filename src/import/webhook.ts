import { isWebUrl } from '#kernel/web-url.ts';
import type { Draft, PlainMap } from './draft.ts';

/** A POST of another program with a body of its own. */
export interface CustomWebhook {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Liquid over `variables`. */
  readonly body: string;
  readonly states: { readonly down: string; readonly up: string };
}

/** What a body can name: each is a variable of the template that `webhookEntry` writes. */
const variables = ['name', 'host', 'state', 'cause', 'message', 'at', 'state_number'] as const;
export type TemplateVariable = (typeof variables)[number];

const isVariableOnly = (text: string) => /^\$\{\w+\}$/.test(text);
const isJsonBody = (body: string) => /^\s*(?:\{(?![{%])|\[)/.test(body);

/**
 * The webhook as it is written under `notify`, with its template in a file beside the configuration; null if it has no address.
 * A message about several incidents names all targets, and the host and cause of the first.
 */
export function webhookEntry(draft: Draft, { url, headers, body, states }: CustomWebhook): PlainMap | null {
  if (!isVariableOnly(url) && !isWebUrl(url)) return null;
  const isJson = isJsonBody(body);
  const [, type] = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  const others = Object.entries(headers).filter(([name]) => name.toLowerCase() !== 'content-type');
  return {
    webhook: {
      ...(isVariableOnly(url) ? { url } : { url_file: draft.secret('webhook-url', url) }),
      template_file: draft.secret('webhook-template', `${prelude(states, isJson)}${isJson ? escapedIn(body) : body}\n`),
      content_type: type ?? (isJson ? undefined : 'application/x-www-form-urlencoded'),
      headers: others.length === 0 ? undefined : Object.fromEntries(others),
    },
  };
}

/** A variable where its text stands as it is. */
export const placeholder = (name: TemplateVariable) => `{{ ${name} }}`;

const quoted = (text: string) => `"${text.replaceAll(/["\n\r]/g, "'")}"`;

// Messages without incidents, such as summaries, have a subject only.
function prelude({ down, up }: CustomWebhook['states'], isJson: boolean): string {
  const lines = [
    '{%- assign name = subject -%}{%- assign host = "" -%}{%- assign cause = subject -%}',
    '{%- for one in incidents limit: 1 -%}{%- assign host = one.subject | split: " " | last -%}{%- assign cause = one.cause -%}{%- endfor -%}',
    '{%- if incidents.size > 0 -%}{%- assign name = incidents | map: "target" | uniq | join: ", " -%}{%- endif -%}',
    `{%- assign state = ${quoted(down)} -%}{%- assign state_number = 0 -%}`,
    `{%- if kind == "resolved" or kind == "closed" -%}{%- assign state = ${quoted(up)} -%}{%- assign state_number = 1 -%}{%- endif -%}`,
    '{%- capture message -%}[{{ name }}] [{{ state }}] {{ cause }}{%- endcapture -%}',
  ];
  const inJson = variables.map(
    (name) => `{%- assign ${name}_in_json = ${name} | json | remove_first: '"' | remove_last: '"' -%}`,
  );
  return `${[...lines, ...(isJson ? inJson.slice(0, -1) : [])].join('\n')}\n`;
}

// A text within the quotes of JSON must not end them.
const escapedIn = (body: string) =>
  body.replaceAll(/\{\{(-?)\s*(name|host|state|cause|message|at)\s*(-?)\}\}/g, '{{$1 $2_in_json $3}}');
