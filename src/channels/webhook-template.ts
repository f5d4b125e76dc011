import type { Liquid, Template } from 'liquidjs';
import { messageOf } from '#kernel/errors.ts';
import type { Secret } from '#kernel/secret.ts';
import { createEngine } from './liquid.ts';
import type { WebhookBody } from './webhook-body.ts';

let loaded: Liquid | null = null;
const parsedBefore = new WeakMap<Secret, Template[]>();

/** The body that a template makes of what a webhook would be sent. Throws what is wrong with the template. */
export function renderBody(template: Secret, body: WebhookBody): string {
  const engine = (loaded ??= createEngine());
  const parsed = parsedBefore.get(template) ?? engine.parse(template.reveal());
  parsedBefore.set(template, parsed);
  return String(engine.renderSync(parsed, body)).trim();
}

/** What is wrong with a template, tried on messages of several kinds; null if nothing is. */
export function problemOfBody(template: Secret, contentType: string): string | null {
  for (const specimen of specimens) {
    let made: string;
    try {
      made = renderBody(template, specimen);
    } catch (error) {
      return `cannot be used: ${messageOf(error)}`;
    }
    if (/[/+]json\b/.test(contentType)) {
      try {
        JSON.parse(made);
      } catch (error) {
        return `does not make JSON of a message of the kind ${specimen.kind}, write texts with "| json": ${messageOf(error)}`;
      }
    }
  }
  return null;
}

// Quotes and line ends are what breaks a form that was not written with care.
const said = 'it said "no"\\';
const at = '2026-01-01T12:00:00.000Z';
const vote = {
  node: 'de1',
  place: said,
  status: 'down',
  seconds: 0.1,
  address: '192.0.2.1',
  source: 'target',
  code: 'refused',
  message: said,
} as const;
const open: WebhookBody['incidents'][number] = {
  id: 'shop/down/1',
  target: 'shop',
  rule: 'down',
  severity: 'critical',
  subject: said,
  condition: said,
  cause: said,
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
  subject: said,
  text: said,
  link: null,
  acknowledge: null,
  references: [],
  incidents: [open],
};
const specimens: readonly WebhookBody[] = [
  opened,
  { ...opened, kind: 'update', incidents: [{ ...open, later_causes: [{ at, cause: said }] }] },
  { ...opened, kind: 'resolved', link: 'https://example.com/', references: ['x'], incidents: [over] },
  { ...opened, kind: 'digest', incidents: [open, over] },
  { ...opened, kind: 'summary', incidents: [] },
];
