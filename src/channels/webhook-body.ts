import { z } from 'zod';
import type { Message } from '#monitor/notify/channel.ts';

const Time = z.iso.datetime();

const Vote = z.strictObject({
  node: z.string(),
  place: z.string().describe('City and country, or empty.'),
  status: z.enum(['up', 'down', 'unknown']),
  seconds: z.number().nullable().describe('How long the check took.'),
  address: z.string().nullable().describe('The IP address that was checked.'),
  source: z.string().nullable().describe('Whose fault a failure is.'),
  code: z.string().nullable().describe('A stable code of a failure.'),
  message: z.string().nullable(),
});

const Incident = z.strictObject({
  id: z.string().describe('The same in every message about the incident.'),
  target: z.string(),
  rule: z.string(),
  severity: z.enum(['critical', 'warning', 'info']),
  subject: z.string().describe('What is checked, in words.'),
  condition: z.string().describe('What the rule was, in words.'),
  cause: z.string().describe('Why it opened.'),
  later_causes: z.array(z.strictObject({ at: Time, cause: z.string() })).describe('Later causes, if they differ.'),
  started_at: Time.describe('The first failing round.'),
  opened_at: Time.describe('The round that confirmed it.'),
  ended_at: Time.nullable().describe('The first good round, or null while the incident is open.'),
  votes: z.array(Vote).describe('What each node saw in the round that opened it.'),
  closing_votes: z.array(Vote).nullable().describe('What each node saw in the round that closed it.'),
});

/** The body of a webhook call, version 1. Within a version keys are only added. */
export const WebhookBody = z
  .strictObject({
    version: z.literal(1),
    id: z.string().describe('The same when a message is repeated.'),
    kind: z.enum(['opened', 'update', 'reminder', 'resolved', 'closed', 'late', 'digest', 'summary']),
    at: Time.describe('When the message was decided.'),
    subject: z.string().describe('One line for people.'),
    text: z.string().describe('A sentence or two for people.'),
    evidence: z
      .array(z.string())
      .optional()
      .describe('What nodes found out about the cause, in sentences that are part of the text too; absent if nothing.'),
    link: z.string().nullable().describe('The page about it, if there is one.'),
    acknowledge: z
      .string()
      .nullable()
      .describe('The acknowledgement page, if there is one: GET shows it, POST acknowledges.'),
    references: z.array(z.string()).describe('Ids of the messages that this one belongs under.'),
    incidents: z.array(Incident),
  })
  .describe('What Watchpost sends to a webhook.');
export type WebhookBody = z.output<typeof WebhookBody>;

/** The JSON Schema (draft 7) of the body. */
export function webhookJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(WebhookBody, { target: 'draft-7' }), title: 'Watchpost webhook' };
}

/** The body that tells a message. */
export function webhookBodyOf({ id, kind, at, content, references, incidents }: Message): WebhookBody {
  return {
    version: 1,
    id,
    kind,
    at: new Date(at).toISOString(),
    subject: content.subject,
    text: [`${content.headline}.`, ...content.remarks].join(' '),
    ...(content.evidence === undefined ? {} : { evidence: [...content.evidence] }),
    link: content.link,
    acknowledge: content.acknowledge ?? null,
    references: [...references],
    incidents: incidents.map(incidentOf),
  };
}

function incidentOf(incident: Message['incidents'][number]): WebhookBody['incidents'][number] {
  const { id, target, rule, severity, subject, condition, cause, startedAt, openedAt, endedAt } = incident;
  return {
    id,
    target,
    rule,
    severity,
    subject,
    condition,
    cause,
    later_causes: incident.laterCauses.map((one) => ({ at: new Date(one.at).toISOString(), cause: one.cause })),
    started_at: new Date(startedAt).toISOString(),
    opened_at: new Date(openedAt).toISOString(),
    ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
    votes: incident.votes.map((vote) => ({ ...vote })),
    closing_votes: incident.closingVotes?.map((vote) => ({ ...vote })) ?? null,
  };
}
