import type { Liquid, Template } from 'liquidjs';
import { messageOf } from '#kernel/errors.ts';
import type { Secret } from '#kernel/secret.ts';
import { createEngine } from './liquid.ts';
import type { WebhookBody } from './webhook-body.ts';

let loaded: Liquid | null = null;
const parsedBefore = new WeakMap<Secret, Template[]>();

/** Renders a template to the body of a webhook; `body` is what it would send without one. Throws if the template is wrong. */
export function renderBody(template: Secret, body: WebhookBody): string {
  const engine = (loaded ??= createEngine());
  const parsed = parsedBefore.get(template) ?? engine.parse(template.reveal());
  parsedBefore.set(template, parsed);
  return String(engine.renderSync(parsed, body)).trim();
}

/** What is wrong with a template, tried on messages of several kinds; null if nothing is. */
export function problemOfTemplate(template: Secret, contentType: string): string | null {
  for (const sample of samples) {
    let rendered: string;
    try {
      rendered = renderBody(template, sample);
    } catch (error) {
      return `cannot be used: ${messageOf(error)}`;
    }
    if (/[/+]json\b/.test(contentType)) {
      try {
        JSON.parse(rendered);
      } catch (error) {
        return `does not render valid JSON for a message of kind "${sample.kind}"; write texts with "| json": ${messageOf(error)}`;
      }
    }
  }
  return null;
}

// Quotes and backslashes break JSON that a template makes without the filter `json`.
const awkward = 'it said "no"\\';
const at = '2026-01-01T12:00:00.000Z';
const vote = {
  node: 'de1',
  place: awkward,
  status: 'down',
  seconds: 0.1,
  address: '192.0.2.1',
  source: 'target',
  code: 'refused',
  message: awkward,
} as const;
const open: WebhookBody['incidents'][number] = {
  id: 'shop/down/1',
  target: 'shop',
  rule: 'down',
  severity: 'critical',
  subject: awkward,
  condition: awkward,
  cause: awkward,
  later_causes: [],
  started_at: at,
  opened_at: at,
  ended_at: null,
  votes: [vote],
  closing_votes: null,
};
const over = {
  ...open,
  ended_at: at,
  closing_votes: [{ ...vote, status: 'up', source: null, code: null, message: null } as const],
};
const opened: WebhookBody = {
  version: 1,
  id: 'x',
  kind: 'opened',
  at,
  subject: awkward,
  text: awkward,
  link: null,
  acknowledge: null,
  references: [],
  incidents: [open],
};
const samples: readonly WebhookBody[] = [
  opened,
  { ...opened, kind: 'update', incidents: [{ ...open, later_causes: [{ at, cause: awkward }] }] },
  { ...opened, kind: 'resolved', link: 'https://example.com/', references: ['x'], incidents: [over] },
  { ...opened, kind: 'digest', incidents: [open, over] },
  { ...opened, kind: 'summary', incidents: [] },
];
