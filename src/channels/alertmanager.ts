import { z } from 'zod';
import { createInTurn, type SerialRunner } from '#kernel/concurrency.ts';
import { FilePath } from '#kernel/file-path.ts';
import { WebUrl } from '#kernel/url.ts';
import { type Incident, type LaterCause, latestCause, sentenceStart } from '#monitor/judge/incident.ts';
import type { Channel, IncidentLink, DeliveryReceipt } from '#monitor/notify/channel.ts';
import type { DeliveryPolicy } from '#monitor/notify/delivery-policy.ts';
import type { ChannelType } from './channel.ts';
import { createHttpChannel, fileOf, type SendContext } from './http-channel.ts';

const labelName = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

const AlertmanagerEntry = z.strictObject({
  urls: z
    .array(WebUrl('expected the address of an Alertmanager, such as "http://alertmanager:9093"'), {
      error: 'expected a list of addresses, such as [http://alertmanager:9093]',
    })
    .min(1)
    .max(10)
    .describe('The Alertmanagers; all members of a cluster.'),
  labels: z
    .record(z.string().regex(labelName, { error: 'expected the name of a label' }), z.string().max(200))
    .default({})
    .describe('Labels of your own that every alert gets.'),
  token_file: FilePath.optional().describe('A file that holds a bearer token. Default: none is sent.'),
});
type AlertmanagerEntry = z.output<typeof AlertmanagerEntry>;

/**
 * Hands incidents to Alertmanager, which routes, groups, silences and inhibits them: everything at once as soon as it is known, no
 * reminders, renewed while it is open, resolved at its end.
 */
export const alertmanager: ChannelType<'alertmanager', typeof AlertmanagerEntry> = {
  name: 'alertmanager',
  summary: 'Hands alerts to Alertmanager of Prometheus.',
  Entry: AlertmanagerEntry,
  sections: {},
  recipientsOf: ({ notify }) => [notify],
  policyOf: atOnce,
  open: (environment, contacts) =>
    oneAtATime(
      createHttpChannel({
        name: 'alertmanager',
        environment,
        contacts,
        async send({ incidents, links }, sending) {
          const all = incidents.map((incident) => ({ incident, link: links.get(incident.id) ?? null }));
          return post(all, environment.renewal.validMs, sending);
        },
        async renew(open, sending) {
          const all = open();
          if (all.length === 0) return { kind: 'delivered', response: 'none' };
          return post(all, environment.renewal.validMs, sending);
        },
      }),
    ),
};

function atOnce(wished: DeliveryPolicy): DeliveryPolicy {
  return { ...wished, grouping: { waitMs: 0, intervalMs: 0 }, storm: null, remindMs: [] };
}

/** Members of a cluster do not share alerts, so each gets every alert; it is delivered once one of them has it. */
async function post(
  incidents: readonly IncidentLink[],
  validMs: number,
  sending: SendContext<AlertmanagerEntry>,
): Promise<DeliveryReceipt> {
  const { contact, clock } = sending;
  const { urls, labels, token_file: tokenFile } = contact.entry;
  if (incidents.length === 0) return { kind: 'rejected', reason: 'Alertmanager takes incidents only' };
  const headers = tokenFile === undefined ? {} : { authorization: `Bearer ${fileOf(contact, 'token_file').reveal()}` };
  const validUntil = clock.now() + validMs;
  const json = incidents.flatMap((one) => alertsOf(one, labels, validUntil));
  const receipts = await Promise.all(
    urls.map(async (url) => sending.send({ url: `${url.replace(/\/+$/, '')}/api/v2/alerts`, headers, json })),
  );
  const taken = receipts.find(({ kind }) => kind === 'delivered');
  return taken ?? receipts.find(({ kind }) => kind === 'retry') ?? receipts[0] ?? noAddress;
}

const noAddress: DeliveryReceipt = { kind: 'rejected', reason: 'there is no address of an Alertmanager' };

/**
 * The alert of an incident, and one more for each later cause. Alertmanager identifies alerts by their labels and does not notify
 * of changed annotations: the label `update` makes a later cause an alert of its own, and the first alert keeps its labels.
 */
function alertsOf(
  { incident, link }: IncidentLink,
  own: AlertmanagerEntry['labels'],
  validUntil: number,
): readonly object[] {
  const { startedAt, laterCauses } = incident;
  const endsAt = incident.endedAt ?? validUntil;
  const first = alertOf(incident, { own, link, summary: latestCause(incident), startsAt: startedAt, endsAt });
  const later = laterCauses.map(({ number, at, cause }: LaterCause, index) =>
    alertOf(incident, {
      own,
      link,
      summary: cause,
      startsAt: at,
      endsAt: laterCauses[index + 1]?.at ?? endsAt,
      update: number,
    }),
  );
  return [first, ...later];
}

interface AlertOptions {
  readonly own: AlertmanagerEntry['labels'];
  readonly link: string | null;
  readonly summary: string;
  readonly startsAt: number;
  readonly endsAt: number;
  /** The number of the later cause; absent for the alert of the incident itself. */
  readonly update?: number;
}

function alertOf(incident: Incident, { own, link, summary, startsAt, endsAt, update }: AlertOptions): object {
  const { id, target, rule, severity, subject, condition, wording } = incident;
  return {
    labels: {
      ...labelsOf(incident.labels),
      ...own,
      alertname: alertNameOf(wording.word),
      target,
      rule,
      severity,
      ...(update === undefined ? {} : { update: String(update) }),
    },
    annotations: {
      summary: `${sentenceStart(incident)} ${wording.is}: ${summary}`,
      description: `${subject}: ${condition}`,
      incident: id,
    },
    // An alert that ends before it starts is refused: after the clock was set back it would start later than it ends.
    startsAt: new Date(Math.min(startsAt, endsAt)).toISOString(),
    endsAt: new Date(endsAt).toISOString(),
    ...(link === null ? {} : { generatorURL: link }),
  };
}

// `WatchpostNoLeader` for `NO LEADER`.
function alertNameOf(word: string): string {
  const parts = word.split(' ').map((one) => one.charAt(0) + one.slice(1).toLowerCase());
  return `Watchpost${parts.join('')}`;
}

// Labels whose names Alertmanager refuses are left out.
function labelsOf(labels: Incident['labels']): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(labels).filter(([name]) => labelName.test(name)));
}

// A renewal under way while the end is sent would open the alert again: for each recipient, one call waits for the other.
function oneAtATime(channel: Channel): Channel {
  const { renew } = channel;
  const ofRecipients = new Map<string, SerialRunner>();
  const inTurnFor = (recipient: string): SerialRunner => {
    const inTurn = ofRecipients.get(recipient) ?? createInTurn();
    ofRecipients.set(recipient, inTurn);
    return inTurn;
  };
  return {
    ...channel,
    send: async (message, recipient, signal) =>
      inTurnFor(recipient)(async () => channel.send(message, recipient, signal)),
    renew:
      renew === null
        ? null
        : async (open, recipient, signal) => inTurnFor(recipient)(async () => renew(open, recipient, signal)),
  };
}
