import type { Incident } from '#monitor/judge/incident.ts';
import type { Message } from '#monitor/notify/channel.ts';
import { composeMessage } from '#monitor/notify/compose-message.ts';
import type { MessagePart } from '#monitor/notify/message-part.ts';
import { summaryMessage } from '#monitor/notify/summary.ts';
import { delivery, refused, shopBack, shopDown } from './incidents.ts';
import { part, utc } from './mails.ts';

const minute = 60_000;
const opened = delivery();
const resolved = delivery({ id: 2, kind: 'resolved', createdAt: Date.parse('2026-01-01T12:09:42Z') });
const refusal = 'mail.example.com: connect ECONNREFUSED 192.0.2.25:587';
const failedBefore = { ...opened, attempts: 5, lastError: refusal };

function named(incident: Incident, target: string, changes: Partial<Incident> = {}): Incident {
  return { ...incident, id: `${target}/down/1`, target, subject: `tcp ${target}.example.com:443`, ...changes };
}

function about(incident: Incident, kinds: readonly (typeof opened)[]): MessagePart {
  return part(
    incident,
    kinds.map((one, index) => ({ ...one, id: index + 1, incidentId: incident.id })),
    'root',
  );
}

const gateway = named(shopDown, 'gateway', { cause: 'no reply to 4 pings', startedAt: shopDown.startedAt - minute });
const blog = named(shopDown, 'blog', { cause: 'timeout: no answer within 5 s', openedAt: shopDown.openedAt + minute });
const rack = named(shopDown, 'rack', { labels: { dc: 'fra', role: 'web' } });
const rackMail = named(shopDown, 'rack-mail', { labels: { dc: 'fra', role: 'mail' } });
const lateReason = 'it was held back: maintenance until 2026-01-01 12:01:00 UTC';
const many = Array.from({ length: 120 }, (_, index) => named(shopDown, `web${String(index + 1).padStart(3, '0')}`));
const killed: Incident = {
  ...shopDown,
  id: 'backup/down/1767268890000',
  target: 'backup',
  subject: 'heartbeat db1',
  condition: 'it is down in one round',
  cause: 'late: no ping since 2025-12-31 12:00:00 UTC (every 1d)',
  votes: [],
  laterCauses: [
    {
      number: 1,
      at: shopDown.openedAt + 7 * minute,
      code: 'exit',
      cause: 'ended with exit code 137: ended by SIGKILL',
    },
  ],
};
const over = { endedAt: shopBack.endedAt, closingVotes: shopBack.closingVotes };

const uptime = { from: Date.parse('2025-12-29T08:00:00Z'), to: Date.parse('2026-01-05T08:00:00Z') };

/** A message of each kind there is, by the name of its fixture. */
export const mailKinds: readonly { readonly name: string; readonly message: Message }[] = [
  { name: 'opened', message: composeMessage([part(shopDown, [opened])], utc) },
  {
    name: 'reminder',
    message: composeMessage(
      [part(shopDown, [delivery({ kind: 'reminder', number: 2, createdAt: shopDown.openedAt + 300 * minute })])],
      utc,
    ),
  },
  { name: 'resolved', message: composeMessage([part(shopBack, [resolved])], utc) },
  {
    name: 'closed',
    message: composeMessage([part({ ...shopBack, closingVotes: null }, [{ ...resolved, kind: 'closed' }])], utc),
  },
  { name: 'late', message: composeMessage([part(shopBack, [failedBefore, resolved])], utc) },
  { name: 'brief', message: composeMessage([part(shopBack, [opened, resolved])], utc) },
  {
    name: 'group-opened',
    message: composeMessage([about(gateway, [opened]), about(shopDown, [opened]), about(blog, [opened])], utc),
  },
  {
    name: 'group-linked',
    message: composeMessage([about(rack, [opened]), about({ ...rackMail, lateReason: lateReason }, [opened])], {
      ...utc,
      linkTo: ({ id }) => `https://watch.example.com/incidents/${id}`,
      acknowledgeAt: ({ id }) => `https://watch.example.com/acknowledge/${Buffer.from(id).toString('hex')}`,
      acknowledgeAllAt: () => 'https://watch.example.com/acknowledge/0123456789',
    }),
  },
  {
    name: 'group-opened-120',
    message: composeMessage([about(gateway, [opened]), ...many.map((one) => about(one, [opened]))], utc),
  },
  {
    name: 'group-reminder',
    message: composeMessage(
      [gateway, blog].map((one) => about(one, [{ ...opened, kind: 'reminder' }])) as [MessagePart, ...MessagePart[]],
      utc,
    ),
  },
  {
    name: 'group-resolved',
    message: composeMessage(
      [
        about({ ...gateway, ...over }, [resolved]),
        about({ ...shopBack, ...over }, [resolved]),
        about({ ...blog, ...over }, [failedBefore, resolved]),
      ],
      utc,
    ),
  },
  {
    name: 'digest',
    message: composeMessage(
      [
        about(gateway, [opened]),
        about({ ...blog, severity: 'warning' }, [{ ...opened, kind: 'reminder' }]),
        about(shopBack, [resolved]),
        about(named(shopBack, 'backup'), [opened, resolved]),
        about(named({ ...shopBack, closingVotes: null }, 'old'), [{ ...resolved, kind: 'closed' }]),
      ],
      utc,
    ),
  },
  {
    name: 'summary',
    message: summaryMessage(
      {
        ...uptime,
        knownFrom: uptime.from,
        uptime: 0.99925,
        targets: [
          {
            target: 'blog',
            up: 20_120,
            down: 40,
            unknown: 3,
            uptime: 0.99801,
            p95Seconds: 1.21,
            meanSeconds: 0.3125,
            longestSeconds: 4.91,
            budget: null,
          },
          {
            target: 'shop',
            up: 20_155,
            down: 5,
            unknown: 0,
            uptime: 0.99975,
            p95Seconds: 0.214,
            meanSeconds: 0.0834,
            longestSeconds: 1.25,
            budget: { ratio: 0.999, overMs: 2_592_000_000, allowedMs: 2_592_000, spentMs: 1_010_880, left: 0.61 },
          },
          {
            target: 'smtp',
            up: 20_160,
            down: 0,
            unknown: 0,
            uptime: 1,
            p95Seconds: 0.0193,
            meanSeconds: 0.0121,
            longestSeconds: 0.0402,
            budget: null,
          },
        ],
        incidents: [
          shopBack,
          { ...blog, votes: [refused], startedAt: uptime.to - 90 * minute, openedAt: uptime.to - 89 * minute },
        ],
      },
      'Europe/Berlin',
      { recipient: 'ops@example.com' },
    ),
  },
  {
    name: 'update',
    message: composeMessage(
      [part(killed, [delivery({ kind: 'update', createdAt: killed.openedAt + 7 * minute })], 'root')],
      utc,
    ),
  },
];
