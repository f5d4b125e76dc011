import { createHash } from 'node:crypto';
import { z } from 'zod';
import { messageOf } from '#kernel/errors.ts';
import { userAgent } from '#kernel/version.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { type Channel, type DeliveryReceipt, type Message, usualAttemptMs } from '#monitor/notify/channel.ts';
import type { Device } from '#subscriptions/device-store.ts';
import type { ChannelEnvironment, ChannelType, Contact, PushDevices } from './channel.ts';
import { chatTextOf, clipped, plainTextOf } from './chat-text.ts';
import { deliver, retry } from './http-receipt.ts';
import { firstReference, replacesFirst } from './thread.ts';
import { encryptPush, mostPushBytes, pushKeysOf, vapidHeader } from './web-push.ts';

const PushEntry = z.strictObject({
  keep_for: Duration({ min: '0s', max: '28d' })
    .default(86_400_000)
    .describe('How long the push service keeps a notification for a device that is offline.'),
});
type PushEntry = z.output<typeof PushEntry>;

const sections = {
  push: z
    .strictObject({
      allow_private: z
        .boolean()
        .default(false)
        .describe('Whether push services may be in private networks, such as one of your own.'),
    })
    .optional()
    .describe('Notifications on devices (Web Push).'),
};

/** Shows notifications on the devices that people added on pages (Web Push: RFC 8030, 8291 and 8292). */
export const push: ChannelType<'push', typeof PushEntry, typeof sections> = {
  name: 'push',
  summary: 'Shows notifications on phones and computers, by their browsers (Web Push).',
  Entry: PushEntry,
  sections,
  recipientsOf: ({ notify }) => [notify],
  open: (environment, contacts, { push: section }) =>
    createPushChannel(environment, contacts, section?.value?.allow_private ?? false),
};

interface PushedMessage {
  readonly contact: Contact<PushEntry>;
  readonly id: string;
  readonly payload: string;
  readonly topic: string;
  readonly urgency: 'high' | 'normal';
}

interface SentPush {
  readonly device: Device;
  /** Whether its push service does not know the device any more. */
  readonly isGone: boolean;
  readonly receipt: DeliveryReceipt;
}

// Messages of which some devices have not taken theirs yet.
const mostUnfinished = 1_000;

function createPushChannel(
  { clock, log, devices }: ChannelEnvironment,
  contacts: () => readonly Contact<PushEntry>[],
  allowPrivate: boolean,
): Channel {
  const closing = new AbortController();
  // The devices that took a message of which others did not, so that a retry is for these only.
  const taken = new Map<string, Set<string>>();

  async function sendTo(
    device: Device,
    known: PushDevices,
    message: PushedMessage,
    signal: AbortSignal,
  ): Promise<SentPush> {
    const { endpoint, origin } = device;
    const pinned = await known.pin(new URL(endpoint).hostname.replace(/^\[(.*)\]$/, '$1'), allowPrivate, signal);
    if (!pinned.ok)
      return { device, isGone: false, receipt: retry(`the push service of ${device.name}: ${pinned.reason}`) };
    const keys = pushKeysOf(known.secret());
    // RFC 8292, 2.1: where a push service reaches the operator; a site without TLS is on this machine only.
    const contact = origin.startsWith('https:') ? origin : null;
    const headers = {
      authorization: vapidHeader(keys, { endpoint, contact, now: clock.now() }),
      'content-encoding': 'aes128gcm',
      'content-type': 'application/octet-stream',
      ttl: String(Math.round(message.contact.entry.keep_for / 1_000)),
      topic: message.topic,
      urgency: message.urgency,
      'user-agent': userAgent,
    };
    const body = encryptPush(message.payload, device);
    const request = { url: endpoint, method: 'POST', headers, body, address: pinned.address } as const;
    let isGone = false;
    const receipt = await deliver(request, {
      clock,
      signal,
      secrets: [device.auth],
      read({ status }) {
        isGone = status === 404 || status === 410;
        return null;
      },
    });
    if (isGone) forget(device, known);
    return { device, isGone, receipt };
  }

  // RFC 8030, 7.3: the subscription has ended. If it cannot be removed for now, the next message finds that out again.
  function forget({ id, recipient }: Device, known: PushDevices): void {
    try {
      known.remove(id);
      log.info({ device: id, recipient }, 'removed a device: its subscription has ended');
    } catch (error) {
      log.warn(
        { device: id, recipient, reason: messageOf(error) },
        'cannot remove a device whose subscription has ended',
      );
    }
  }

  async function send(message: PushedMessage, signal: AbortSignal): Promise<DeliveryReceipt> {
    const { notify } = message.contact;
    if (devices === null) return retry(`${notify} has no device: add one on the page /devices`);
    const key = `${notify} ${message.id}`;
    const done = taken.get(key) ?? new Set<string>();
    const waiting = devices.list().filter(({ id, recipient }) => recipient === notify && !done.has(id));
    const sent = await Promise.all(waiting.map(async (device) => sendTo(device, devices, message, signal)));
    for (const { device, receipt } of sent) if (receipt.kind === 'delivered') done.add(device.id);
    const failed = sent.flatMap(({ receipt, isGone }) => (receipt.kind === 'delivered' || isGone ? [] : [receipt]));
    const again = failed.find(({ kind }) => kind === 'retry');
    taken.delete(key);
    if (again !== undefined) {
      if (done.size > 0) taken.set(key, done);
      for (const oldest of taken.keys()) {
        if (taken.size <= mostUnfinished) break;
        taken.delete(oldest);
      }
      return again;
    }
    if (done.size > 0) {
      const response = `taken for ${done.size} ${done.size === 1 ? 'device' : 'devices'}`;
      return { kind: 'delivered', response, reference: message.topic };
    }
    // A device that is added in time gets it.
    const gone = sent.length === 0 ? '' : ' any more';
    return failed[0] ?? retry(`${notify} has no device${gone}: add one on the page /devices`);
  }

  return {
    name: 'push',
    attemptMs: usualAttemptMs,
    renew: null,
    async send(message, recipient, signal) {
      const contact = contacts().find(({ notify }) => notify === recipient);
      if (contact === undefined) return { kind: 'rejected', reason: `notify.${recipient} has no push any more` };
      try {
        return await send(pushedMessage(message, contact), AbortSignal.any([signal, closing.signal]));
      } catch (error) {
        if (signal.aborted || closing.signal.aborted) return retry(messageOf(error));
        throw error;
      }
    },
    async close() {
      closing.abort(new Error('the push channel is closed'));
    },
  };
}

function pushedMessage(message: Message, contact: Contact<PushEntry>): PushedMessage {
  const { content, incidents } = message;
  const text = chatTextOf(message);
  // Takes the place of what was shown of these incidents before, or waits at the push service.
  const topic = (replacesFirst(message) ? firstReference(message) : null) ?? topicOf(message.id);
  const urgency = content.tone !== 'good' && incidents.some(({ severity }) => severity === 'critical');
  const payload = (most: number) =>
    JSON.stringify({
      title: clipped(text.title, 200),
      body: plainTextOf({ ...text, link: null, acknowledge: null }, most),
      link: text.link,
      acknowledge: text.acknowledge,
      tag: topic,
      at: message.at,
    });
  let most = 600;
  while (Buffer.byteLength(payload(most)) > mostPushBytes && most > 20) most = Math.floor(most / 2);
  return { contact, id: message.id, payload: payload(most), topic, urgency: urgency ? 'high' : 'normal' };
}

// RFC 8030, 5.4: at most 32 characters of base64url.
const topicOf = (id: string) => createHash('sha256').update(id).digest('base64url').slice(0, 32);
