import type { z } from 'zod';
import { alertmanager } from '#channels/alertmanager.ts';
import { apprise } from '#channels/apprise.ts';
import type { ChannelType } from '#channels/channel.ts';
import { discord } from '#channels/discord.ts';
import { googlechat } from '#channels/googlechat.ts';
import { gotify } from '#channels/gotify.ts';
import { matrix } from '#channels/matrix.ts';
import { mattermost } from '#channels/mattermost.ts';
import { ntfy } from '#channels/ntfy.ts';
import { opsgenie } from '#channels/opsgenie.ts';
import { pagerduty } from '#channels/pagerduty.ts';
import { pushover } from '#channels/pushover.ts';
import { rocketchat } from '#channels/rocketchat.ts';
import { signal } from '#channels/signal.ts';
import { slack } from '#channels/slack.ts';
import { splunkoncall } from '#channels/splunkoncall.ts';
import { teams } from '#channels/teams.ts';
import { telegram } from '#channels/telegram.ts';
import { twilio } from '#channels/twilio.ts';
import { webex } from '#channels/webex.ts';
import { webhook } from '#channels/webhook.ts';
import { zulip } from '#channels/zulip.ts';
import type { Clock } from '#kernel/clock.ts';
import { Secret } from '#kernel/secret.ts';
import { type Channel, renewalTimes } from '#monitor/notify/channel.ts';
import { FakeClock } from './fake-clock.ts';
import type { Received, Step } from './http-sink.ts';
import { memoryLog } from './memory-log.ts';

/** A service as its documentation describes it, and how it is configured. */
export interface HttpService {
  readonly name: string;
  /** Its entry in `notify`, with the service at this origin. */
  contact(origin: string): ServiceContact;
  /** Answers requests as the documentation says, those that are wrong included. */
  fake(): (received: Received) => Step;
  /** What no reason may show. */
  readonly secrets: readonly string[];
  /** Whether a good status alone says that a message was taken. */
  readonly readsStatusOnly: boolean;
  /** Whether a request updates what the first one made, or answers it; null where the service has no such thing. */
  readonly follows: ((later: Received, first: Received) => boolean) | null;
}

/** An entry as a person writes it, with the contents of its files. */
export interface ServiceContact {
  readonly type: string;
  readonly written: object;
  readonly files: Readonly<Record<string, string>>;
  open(clock?: Clock): Channel;
}

/** A channel with one contact, `ops`, whose entry is written like this. */
export function openContact<Entry extends z.ZodType>(
  type: ChannelType<string, Entry>,
  written: object,
  files: Readonly<Record<string, string>> = {},
  clock: Clock = new FakeClock('2026-01-01T12:01:30Z'),
): Channel {
  const named = Object.fromEntries(Object.keys(files).map((key) => [key, key]));
  const entry = type.Entry.parse({ ...written, ...named });
  const secrets = Object.fromEntries(Object.entries(files).map(([key, text]) => [key, new Secret(text)]));
  const environment = {
    clock,
    log: memoryLog().log,
    folder: '/nowhere',
    hostname: 'localhost',
    renewal: renewalTimes,
    devices: null,
  };
  return type.open(environment, () => [{ notify: 'ops', entry, files: secrets }], {});
}

function contact<Entry extends z.ZodType>(
  type: ChannelType<string, Entry>,
  written: object,
  files: Readonly<Record<string, string>> = {},
): ServiceContact {
  return { type: type.name, written, files, open: (clock) => openContact(type, written, files, clock) };
}

/** The texts of a request as a person would read them: JSON as it is, a form without its encoding. */
export function bodyText({ headers, body }: Received): string {
  const isForm = headers['content-type'] === 'application/x-www-form-urlencoded';
  return isForm ? [...new URLSearchParams(body).values()].join('\n') : body;
}

export const jsonOf = ({ body }: Pick<Received, 'body'>) => JSON.parse(body) as Record<string, never>;

/** An answer of JSON. */
export function says(status: number, body: unknown, headers: Record<string, string> = {}): Step {
  return { status, headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) };
}

const botToken = 'xoxb-1234-5678-abcdefghijklmnop';
const telegramToken = '1234567:ABCdefGHIjklMNOpqrsTUVwxyz_0123456';
const routingKey = '0123456789abcdef0123456789abcdef';
const geniusKey = 'eb243592-faa2-4ba2-a551-1afdf565c889';
const accessToken = 'syt_d2F0Y2hwb3N0_abcdefghij';
const ntfyToken = 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2';
const hookKey = 'xxgeneratedkeyxx1234567890';
const gotifyToken = 'AKoW5h3uYqPmn2d';
const pushoverToken = 'azGDORePK8gMaC0QOYAMyEEuzJnyUi';
const pushoverUser = 'uQiRzpo4DXghDmr9QzzfQu27cmVRsG';
const zulipKey = 'a0b1c2d3e4f5a0b1c2d3e4f5a0b1c2d3';
const webexToken = 'NmQ4ODExNDYtZjI4Yi00YmQ2LWE5_PF84_consumer';
const webexRoom = 'Y2lzY29zcGFyazovL3VzL1JPT00vYmJjZWIxYWQ';
const twilioAccount = 'AC0123456789abcdef0123456789abcdef';
const twilioToken = 'fedcba9876543210fedcba9876543210';
const basic = (user: string, password: string) => Buffer.from(`${user}:${password}`).toString('base64');
/** The fields of a form. */
export const formFields = ({ body }: Pick<Received, 'body'>) => Object.fromEntries(new URLSearchParams(body));
const webhookSecret = 'whsec-0123456789abcdef';

/** Every service that is spoken to over HTTP. */
export const httpServices: readonly HttpService[] = [
  {
    name: 'slack as a bot',
    contact: (origin) => contact(slack, { channel: 'C024BE91L', api_url: `${origin}/api` }, { token_file: botToken }),
    fake() {
      let count = 0;
      const posted = new Set<string>();
      return ({ method, path, headers, body }) => {
        if (method !== 'POST' || path !== '/api/chat.postMessage') return says(404, { ok: false });
        if (headers.authorization !== `Bearer ${botToken}`) return says(200, { ok: false, error: 'invalid_auth' });
        if (headers['content-type']?.startsWith('application/json') !== true)
          return says(200, { ok: false, error: 'invalid_form_data' });
        const { channel, text, thread_ts: thread } = JSON.parse(body);
        if (channel !== 'C024BE91L') return says(200, { ok: false, error: 'channel_not_found' });
        if (text === '') return says(200, { ok: false, error: 'no_text' });
        if (thread !== undefined && !posted.has(thread)) return says(200, { ok: false, error: 'thread_not_found' });
        count += 1;
        const ts = `1767268890.00010${count}`;
        posted.add(ts);
        return says(200, { ok: true, channel, ts, message: { text, type: 'message' } });
      };
    },
    secrets: [botToken],
    readsStatusOnly: false,
    follows: (later) =>
      String(jsonOf(later)['thread_ts']) === '1767268890.000101' && Boolean(jsonOf(later)['reply_broadcast']),
  },
  {
    name: 'slack by a webhook',
    contact: (origin) => contact(slack, { url: `${origin}/services/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX` }),
    fake:
      () =>
      ({ path, body }) => {
        if (path !== '/services/T000/B000/XXXXXXXXXXXXXXXXXXXXXXXX') return { status: 404, body: 'no_service' };
        return typeof JSON.parse(body).text === 'string'
          ? { status: 200, body: 'ok' }
          : { status: 400, body: 'no_text' };
      },
    secrets: ['XXXXXXXXXXXXXXXXXXXXXXXX'],
    readsStatusOnly: true,
    follows: null,
  },
  {
    name: 'discord',
    contact: (origin) =>
      contact(discord, { url: `${origin}/api/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b3b1b44f` }),
    fake() {
      let count = 0;
      const posted = new Set<string>();
      const base = '/api/webhooks/223704706495545344/3d89bb7572e0fb30d8128367b3b1b44f';
      return ({ method, path, body }) => {
        const { embeds = [] } = JSON.parse(body);
        const [embed] = embeds;
        const length = [
          embed?.title,
          embed?.description,
          embed?.footer?.text,
          ...(embed?.fields ?? []).flatMap((one: { name: string; value: string }) => [one.name, one.value]),
        ].join('').length;
        if (embed === undefined || embed.title.length > 256 || length > 6_000 || embed.fields.length > 25)
          return says(400, { code: 50_035, message: 'Invalid Form Body' });
        if (method === 'POST' && path === `${base}?wait=true`) {
          count += 1;
          posted.add(String(count));
          return says(200, { id: String(count), type: 0, channel_id: '1', embeds });
        }
        const id = /\/messages\/(\d+)$/.exec(path)?.[1] ?? '';
        if (method === 'PATCH' && path === `${base}/messages/${id}`)
          return posted.has(id) ? says(200, { id }) : says(404, { code: 10_008, message: 'Unknown Message' });
        return says(404, { code: 10_015, message: 'Unknown Webhook' });
      };
    },
    secrets: ['3d89bb7572e0fb30d8128367b3b1b44f'],
    readsStatusOnly: false,
    follows: ({ method, path }) => method === 'PATCH' && path.endsWith('/messages/1'),
  },
  {
    name: 'teams',
    contact: (origin) =>
      contact(teams, { url: `${origin}/workflows/abc/triggers/manual/paths/invoke?sig=0123456789abcdef0123` }),
    fake:
      () =>
      ({ path, body }) => {
        if (!path.startsWith('/workflows/abc/')) return says(404, { error: { code: 'WorkflowNotFound' } });
        const { type, attachments } = JSON.parse(body);
        const [{ contentType, content }] = attachments;
        const isCard =
          type === 'message' &&
          contentType === 'application/vnd.microsoft.card.adaptive' &&
          content.type === 'AdaptiveCard';
        if (body.length > 28_000) return says(413, { error: { code: 'RequestEntityTooLarge' } });
        return isCard ? { status: 202 } : says(400, { error: { code: 'TriggerInputSchemaMismatch' } });
      },
    secrets: ['0123456789abcdef0123'],
    readsStatusOnly: true,
    follows: null,
  },
  {
    name: 'mattermost',
    contact: (origin) => contact(mattermost, { url: `${origin}/hooks/${hookKey}` }),
    fake:
      () =>
      ({ method, path, body }) => {
        const refusal = (status: number, id: string, message: string) =>
          says(status, { id, message, status_code: status });
        if (method !== 'POST' || path !== `/hooks/${hookKey}`)
          return refusal(400, 'web.incoming_webhook.invalid.app_error', 'Invalid webhook.');
        const { text = '', attachments = [] } = JSON.parse(body);
        if (text === '' && attachments.length === 0)
          return refusal(400, 'web.incoming_webhook.text.app_error', 'No text specified.');
        if (JSON.stringify(attachments).length > 8_000)
          return refusal(400, 'web.incoming_webhook.split_props_length.app_error', 'Unable to split webhook props.');
        return { status: 200, headers: { 'content-type': 'text/plain' }, body: 'ok' };
      },
    secrets: [hookKey],
    readsStatusOnly: true,
    follows: null,
  },
  {
    name: 'rocketchat',
    contact: (origin) => contact(rocketchat, { url: `${origin}/hooks/6537f7/${hookKey}` }),
    fake:
      () =>
      ({ path, body }) => {
        if (path !== `/hooks/6537f7/${hookKey}`)
          return says(404, { success: false, error: 'Invalid integration id or token provided.' });
        const { text, attachments } = JSON.parse(body);
        return text.length <= 5_000 && attachments[0].text.length <= 5_000
          ? says(200, { success: true })
          : says(400, { success: false, error: 'error-message-size-exceeded' });
      },
    secrets: [hookKey],
    readsStatusOnly: false,
    follows: null,
  },
  {
    name: 'googlechat',
    contact: (origin) =>
      contact(googlechat, { url: `${origin}/v1/spaces/AAAA/messages?key=AIzaSyDummyKey00&token=${hookKey}` }),
    fake() {
      let count = 0;
      const refusal = (code: number, status: string, message: string) =>
        says(code, { error: { code, message, status } });
      return ({ path, body }) => {
        const { pathname, searchParams } = new URL(path, 'http://chat');
        if (pathname !== '/v1/spaces/AAAA/messages') return refusal(404, 'NOT_FOUND', 'Space not found.');
        if (searchParams.get('token') !== hookKey || searchParams.get('key') !== 'AIzaSyDummyKey00')
          return refusal(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.');
        if (searchParams.get('messageReplyOption') !== 'REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD')
          return refusal(400, 'INVALID_ARGUMENT', 'messageReplyOption is missing');
        const { text, thread } = JSON.parse(body);
        if (text.length > 4_096 || typeof thread.threadKey !== 'string')
          return refusal(400, 'INVALID_ARGUMENT', 'Message cannot have more than 4096 characters.');
        count += 1;
        return says(200, { name: `spaces/AAAA/messages/m${count}`, text, thread: { name: 'spaces/AAAA/threads/t' } });
      };
    },
    secrets: [hookKey, 'AIzaSyDummyKey00'],
    readsStatusOnly: false,
    follows: (later, first) => {
      const keyOf = (one: Received) => (jsonOf(one)['thread'] as { threadKey?: string } | undefined)?.threadKey;
      return keyOf(later) === keyOf(first);
    },
  },
  {
    name: 'zulip',
    contact: (origin) =>
      contact(
        zulip,
        { url: `${origin}/`, bot: 'watchpost-bot@example.com', stream: 'ops' },
        { api_key_file: zulipKey },
      ),
    fake() {
      let count = 40;
      const refusal = (status: number, code: string, msg: string) => says(status, { result: 'error', code, msg });
      return (received) => {
        const { path, headers } = received;
        if (path !== '/api/v1/messages') return refusal(404, 'BAD_REQUEST', 'Not found');
        if (headers.authorization !== `Basic ${basic('watchpost-bot@example.com', zulipKey)}`)
          return refusal(401, 'UNAUTHORIZED', 'Invalid API key');
        if (headers['content-type'] !== 'application/x-www-form-urlencoded')
          return refusal(400, 'REQUEST_VARIABLE_MISSING', "Missing 'type' argument");
        const { type, to, topic = '', content = '' } = formFields(received);
        if (type !== 'stream' || to !== 'ops')
          return refusal(400, 'STREAM_DOES_NOT_EXIST', `Channel '${to}' does not exist`);
        if (topic === '' || topic.length > 60) return refusal(400, 'BAD_REQUEST', 'Topic is invalid');
        if (content === '' || content.length > 10_000) return refusal(400, 'BAD_REQUEST', 'Message must not be empty');
        count += 1;
        return says(200, { result: 'success', msg: '', id: count });
      };
    },
    secrets: [zulipKey, basic('watchpost-bot@example.com', zulipKey)],
    readsStatusOnly: false,
    follows: null,
  },
  {
    name: 'webex',
    contact: (origin) => contact(webex, { room: webexRoom, url: origin }, { token_file: webexToken }),
    fake() {
      let count = 0;
      const posted = new Set<string>();
      const refusal = (status: number, message: string) =>
        says(status, { message, errors: [{ description: message }], trackingId: 'ROUTER_1' });
      return ({ path, headers, body }) => {
        if (path !== '/v1/messages') return refusal(404, 'The requested resource could not be found.');
        if (headers.authorization !== `Bearer ${webexToken}`)
          return refusal(401, 'The request requires a valid access token set in the Authorization request header.');
        const { roomId, text, parentId } = JSON.parse(body);
        if (roomId !== webexRoom) return refusal(404, 'Could not find a room with provided ID.');
        if (Buffer.byteLength(text) > 7_439) return refusal(400, 'Message length limited to 7439 bytes');
        if (parentId !== undefined && !posted.has(parentId)) return refusal(400, 'Invalid parentId');
        count += 1;
        const id = `Y2lzY29zcGFyazovL3VzL01FU1NBR0Uv${count}`;
        if (parentId === undefined) posted.add(id);
        return says(200, { id, roomId, roomType: 'group', text });
      };
    },
    secrets: [webexToken],
    readsStatusOnly: false,
    follows: (later) => String(jsonOf(later)['parentId']) === 'Y2lzY29zcGFyazovL3VzL01FU1NBR0Uv1',
  },
  {
    name: 'telegram',
    contact: (origin) =>
      contact(telegram, { chat: -1_001_234_567_890, api_url: origin }, { token_file: telegramToken }),
    fake() {
      let count = 0;
      return ({ path, body }) => {
        if (path !== `/bot${telegramToken}/sendMessage`)
          return says(404, { ok: false, error_code: 404, description: 'Not Found' });
        const { chat_id: chat, text } = JSON.parse(body);
        const bad = (description: string) =>
          says(400, { ok: false, error_code: 400, description: `Bad Request: ${description}` });
        if (chat !== '-1001234567890') return bad('chat not found');
        const shown = String(text).replaceAll(/<\/?[bi]>/g, '');
        if (/[<>]/.test(shown) || /&(?!amp;|lt;|gt;)/.test(shown)) return bad("can't parse entities");
        if (shown.replaceAll(/&\w+;/g, '.').length > 4_096) return bad('message is too long');
        count += 1;
        return says(200, { ok: true, result: { message_id: 40 + count, date: 0, chat: { id: chat }, text } });
      };
    },
    secrets: [telegramToken],
    readsStatusOnly: false,
    follows: (later) => (jsonOf(later)['reply_parameters'] as { message_id?: number } | undefined)?.message_id === 41,
  },
  {
    name: 'signal',
    contact: (origin) =>
      contact(signal, { url: origin, number: '+15017122661', recipients: ['+15558675310', 'group.YWJj='] }),
    fake:
      () =>
      ({ path, body }) => {
        if (path !== '/v2/send') return { status: 404, body: '404 page not found' };
        const { message, number, recipients } = JSON.parse(body);
        if (number !== '+15017122661') return says(400, { error: 'Specified account does not exist' });
        return message !== '' && recipients.length === 2
          ? says(201, { timestamp: '1767268890000' })
          : says(400, { error: 'Please provide at least one recipient' });
      },
    secrets: [],
    readsStatusOnly: false,
    follows: null,
  },
  {
    name: 'twilio',
    contact: (origin) =>
      contact(
        twilio,
        { account: twilioAccount, from: '+15017122661', to: '+15558675310', url: origin },
        { token_file: twilioToken },
      ),
    fake: () => (received) => {
      const { path, headers } = received;
      const refusal = (status: number, code: number, message: string) =>
        says(status, { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status });
      if (path !== `/2010-04-01/Accounts/${twilioAccount}/Messages.json`)
        return refusal(404, 20_404, 'The requested resource was not found');
      if (headers.authorization !== `Basic ${basic(twilioAccount, twilioToken)}`)
        return refusal(401, 20_003, 'Authenticate');
      const { To: to = '', From: from = '', Body: text = '' } = formFields(received);
      if (to !== '+15558675310') return refusal(400, 21_211, "Invalid 'To' Phone Number");
      if (from !== '+15017122661') return refusal(400, 21_212, "Invalid 'From' Number");
      if (text === '') return refusal(400, 21_602, 'Message body is required');
      if (text.length > 1_600)
        return refusal(400, 21_617, 'The concatenated message body exceeds the 1600 character limit');
      return says(201, { sid: 'SM0123456789abcdef0123456789abcdef', status: 'queued', error_code: null, body: text });
    },
    secrets: [twilioToken, basic(twilioAccount, twilioToken)],
    readsStatusOnly: false,
    follows: null,
  },
  {
    name: 'twilio with calls',
    contact: (origin) =>
      contact(
        twilio,
        { account: twilioAccount, from: '+15017122661', to: '+15558675310', call: true, url: origin },
        { token_file: twilioToken },
      ),
    fake: () => (received) => {
      const refusal = (status: number, code: number, message: string) => says(status, { code, message, status });
      if (received.headers.authorization !== `Basic ${basic(twilioAccount, twilioToken)}`)
        return refusal(401, 20_003, 'Authenticate');
      const { To: to = '', From: from = '', Body: text, Twiml: spoken } = formFields(received);
      if (to !== '+15558675310' || from !== '+15017122661') return refusal(400, 21_211, 'Invalid Phone Number');
      const isCall = received.path === `/2010-04-01/Accounts/${twilioAccount}/Calls.json`;
      if (!isCall && received.path !== `/2010-04-01/Accounts/${twilioAccount}/Messages.json`)
        return refusal(404, 20_404, 'The requested resource was not found');
      if (isCall && !/^<Response><Say [^<>]*>[^<>&]+<\/Say><\/Response>$/.test(spoken ?? ''))
        return refusal(400, 12_100, 'Document parse failure');
      if (!isCall && (text ?? '') === '') return refusal(400, 21_602, 'Message body is required');
      return says(201, { sid: `${isCall ? 'CA' : 'SM'}0123456789abcdef0123456789abcdef`, status: 'queued' });
    },
    secrets: [twilioToken, basic(twilioAccount, twilioToken)],
    readsStatusOnly: false,
    follows: null,
  },
  {
    name: 'ntfy',
    contact: (origin) => contact(ntfy, { url: origin, topic: 'alerts' }, { token_file: ntfyToken }),
    fake:
      () =>
      ({ path, headers, body }) => {
        const { topic, priority, sequence_id: sequence, message } = JSON.parse(body);
        if (headers.authorization !== `Bearer ${ntfyToken}`)
          return says(401, { code: 40_101, http: 401, error: 'unauthorized' });
        if (path !== '/' || topic !== 'alerts') return says(404, { code: 40_401, http: 404, error: 'page not found' });
        if (!(priority >= 1 && priority <= 5)) return says(400, { code: 40_007, http: 400, error: 'invalid priority' });
        if (!/^[-_A-Za-z0-9]{1,64}$/.test(sequence))
          return says(400, { code: 40_049, http: 400, error: 'invalid sequence ID' });
        return says(200, {
          id: 'hwQ2YpKdmg',
          time: 1_767_268_890,
          event: 'message',
          topic,
          message,
          sequence_id: sequence,
        });
      },
    secrets: [ntfyToken],
    readsStatusOnly: false,
    follows: (later, first) => jsonOf(later)['sequence_id'] === jsonOf(first)['sequence_id'],
  },
  {
    name: 'gotify',
    contact: (origin) => contact(gotify, { url: `${origin}/` }, { token_file: gotifyToken }),
    fake() {
      let count = 0;
      const refusal = (errorCode: number, error: string, errorDescription: string) =>
        says(errorCode, { error, errorCode, errorDescription });
      return ({ path, headers, body }) => {
        if (path !== '/message') return refusal(404, 'Not Found', 'page not found');
        if (headers['x-gotify-key'] !== gotifyToken)
          return refusal(
            401,
            'Unauthorized',
            'you need to provide a valid access token or user credentials to access this api',
          );
        const { message, priority } = JSON.parse(body);
        if (message === '' || !Number.isInteger(priority))
          return refusal(400, 'Bad Request', "Field 'message' is required");
        count += 1;
        return says(200, { id: count, appid: 1, message, priority, date: '2026-01-01T12:01:30Z' });
      };
    },
    secrets: [gotifyToken],
    readsStatusOnly: false,
    follows: null,
  },
  {
    name: 'pushover',
    contact: (origin) => contact(pushover, { url: origin }, { token_file: pushoverToken, user_file: pushoverUser }),
    fake: () => {
      const request = '647d2300-702c-4b38-8b2f-d56326ae460b';
      const refusal = (...errors: string[]) => says(400, { status: 0, request, errors });
      return ({ path, body }) => {
        const { token, user, message, title, priority, retry, expire } = JSON.parse(body);
        if (token !== pushoverToken) return refusal('application token is invalid');
        if (/^\/1\/receipts\/rLqVuqTRh62UzxtmqiaLzQmVcPgiCy\/cancel\.json$/.test(path))
          return says(200, { status: 1, request });
        if (path !== '/1/messages.json') return says(404, { status: 0, request, errors: ['not found'] });
        if (user !== pushoverUser) return refusal('user identifier is not a valid user, group, or subscribed user key');
        if (message === '' || message.length > 1_024) return refusal('message cannot be blank or too long');
        if (title.length > 250) return refusal('title is too long');
        if (priority !== 2) return says(200, { status: 1, request });
        if (!(retry >= 30)) return refusal('retry must be supplied with priority=2 and must be at least 30');
        if (!(expire <= 10_800)) return refusal('expire must be supplied with priority=2 and must be at most 10800');
        return says(200, { status: 1, request, receipt: 'rLqVuqTRh62UzxtmqiaLzQmVcPgiCy' });
      };
    },
    secrets: [pushoverToken, pushoverUser],
    readsStatusOnly: false,
    follows: ({ path }) => path === '/1/receipts/rLqVuqTRh62UzxtmqiaLzQmVcPgiCy/cancel.json',
  },
  {
    name: 'matrix',
    contact: (origin) => contact(matrix, { homeserver: origin, room: '!abc:example.com' }, { token_file: accessToken }),
    fake() {
      const events = new Map<string, string>();
      return ({ method, path, headers, body }) => {
        if (headers.authorization !== `Bearer ${accessToken}`)
          return says(401, { errcode: 'M_UNKNOWN_TOKEN', error: 'Unrecognised access token' });
        const [, room, transaction] =
          /^\/_matrix\/client\/v3\/rooms\/([^/]+)\/send\/m\.room\.message\/([^/]+)$/.exec(path) ?? [];
        if (method !== 'PUT' || transaction === undefined) return says(404, { errcode: 'M_UNRECOGNIZED' });
        if (decodeURIComponent(room ?? '') !== '!abc:example.com')
          return says(403, { errcode: 'M_FORBIDDEN', error: 'not in the room' });
        const { msgtype, body: text, 'm.relates_to': relation } = JSON.parse(body);
        if (msgtype !== 'm.text' || typeof text !== 'string') return says(400, { errcode: 'M_BAD_JSON' });
        if (relation !== undefined && ![...events.values()].includes(relation.event_id))
          return says(400, { errcode: 'M_UNKNOWN', error: 'Cannot start threads' });
        const id = events.get(transaction) ?? `$event${events.size + 1}`;
        events.set(transaction, id);
        return says(200, { event_id: id });
      };
    },
    secrets: [accessToken],
    readsStatusOnly: false,
    follows: (later) => {
      const relation = jsonOf(later)['m.relates_to'] as { rel_type?: string; event_id?: string } | undefined;
      return relation?.rel_type === 'm.thread' && relation.event_id === '$event1';
    },
  },
  {
    name: 'pagerduty',
    contact: (origin) => contact(pagerduty, { url: origin }, { routing_key_file: routingKey }),
    fake:
      () =>
      ({ path, body }) => {
        const { routing_key: key, event_action: action, dedup_key: dedup, payload } = JSON.parse(body);
        const invalid = (...errors: string[]) =>
          says(400, { status: 'invalid event', message: 'Event object is invalid', errors });
        if (path !== '/v2/enqueue') return says(404, {});
        if (key !== routingKey) return invalid("Length of 'routing_key' is incorrect (should be 32 characters)");
        if (!['trigger', 'acknowledge', 'resolve'].includes(action)) return invalid("'event_action' is invalid");
        if (
          action === 'trigger' &&
          (!payload?.summary || !payload.source || !['critical', 'error', 'warning', 'info'].includes(payload.severity))
        )
          return invalid("'payload' is missing or blank");
        return says(202, { status: 'success', message: 'Event processed', dedup_key: dedup });
      },
    secrets: [routingKey],
    readsStatusOnly: true,
    follows: (later, first) =>
      jsonOf(later)['dedup_key'] === jsonOf(first)['dedup_key'] && String(jsonOf(later)['event_action']) === 'resolve',
  },
  {
    name: 'opsgenie',
    contact: (origin) => contact(opsgenie, { url: origin }, { api_key_file: geniusKey }),
    fake:
      () =>
      ({ path, headers, body }) => {
        if (headers.authorization !== `GenieKey ${geniusKey}`)
          return says(401, { message: 'Could not authenticate', took: 0 });
        const accepted = says(202, {
          result: 'Request will be processed',
          took: 0.107,
          requestId: '43a29c5c-3dbf-4fa4-9c26-f4f71023e120',
        });
        if (/^\/v2\/alerts\/\w+%2Fdown%2F\d+\/close\?identifierType=alias$/.test(path)) return accepted;
        if (path !== '/v2/alerts') return says(404, { message: 'Not found' });
        const { message, alias, priority } = JSON.parse(body);
        const isSound = message.length > 0 && message.length <= 130 && alias.length <= 512 && /^P[1-5]$/.test(priority);
        return isSound ? accepted : says(422, { message: 'Request body is not processable' });
      },
    secrets: [geniusKey],
    readsStatusOnly: true,
    follows: ({ path }, first) =>
      path.includes(encodeURIComponent(String(jsonOf(first)['alias']))) && path.includes('/close?'),
  },
  {
    name: 'splunkoncall',
    contact: (origin) => contact(splunkoncall, { url: `${origin}/integrations/generic/20131114/alert/${hookKey}/ops` }),
    fake:
      () =>
      ({ path, body }) => {
        if (path !== `/integrations/generic/20131114/alert/${hookKey}/ops`)
          return says(404, { result: 'failure', messages: 'not found' });
        const { message_type: type, entity_id: id, state_start_time: start } = JSON.parse(body);
        const isSound =
          /^(?:CRITICAL|WARNING|INFO|ACKNOWLEDGEMENT|RECOVERY)$/.test(type) && id !== '' && Number.isInteger(start);
        return isSound && body.length < 20_480
          ? says(200, { result: 'success', entity_id: id })
          : says(400, { result: 'failure', messages: 'message_type is invalid' });
      },
    secrets: [hookKey],
    readsStatusOnly: false,
    follows: (later, first) =>
      jsonOf(later)['entity_id'] === jsonOf(first)['entity_id'] && String(jsonOf(later)['message_type']) === 'RECOVERY',
  },
  {
    name: 'alertmanager',
    contact: (origin) => contact(alertmanager, { urls: [`${origin}/`] }),
    fake:
      () =>
      ({ path, body }) => {
        const alerts = JSON.parse(body) as readonly {
          labels: Record<string, string>;
          startsAt: string;
          endsAt: string;
        }[];
        if (path !== '/api/v2/alerts') return says(404, {});
        const isSound = alerts.every(
          ({ labels, startsAt, endsAt }) => Object.keys(labels).length > 0 && startsAt <= endsAt,
        );
        return isSound ? { status: 200 } : says(400, 'start time must be before end time');
      },
    secrets: [],
    readsStatusOnly: true,
    follows: (later, first) => {
      const [of, before] = [later, first].map(({ body }) => JSON.parse(body)[0]);
      // What is renewed ends ever later. What is over ended when it did, or before the time that was announced.
      const isOver = of.endsAt === '2026-01-01T12:09:12.000Z' || of.endsAt < before.endsAt;
      return JSON.stringify(of.labels) === JSON.stringify(before.labels) && isOver;
    },
  },
  {
    name: 'apprise',
    contact: (origin) => contact(apprise, { url: `${origin}/notify/${hookKey}`, tag: 'ops' }),
    fake:
      () =>
      ({ path, body }) => {
        if (path !== `/notify/${hookKey}`) return { status: 204 };
        const { body: text, type, format, tag } = JSON.parse(body);
        if (tag !== 'ops') return says(424, { error: 'One or more notification could not be sent.' });
        return text !== '' && ['info', 'success', 'warning', 'failure'].includes(type) && format === 'text'
          ? says(200, { error: '', details: [] })
          : says(400, { error: 'Bad FORM Payload provided' });
      },
    secrets: [hookKey],
    readsStatusOnly: true,
    follows: null,
  },
  {
    name: 'webhook',
    contact: (origin) =>
      contact(webhook, { url: `${origin}/hooks/0123456789abcdefghij` }, { secret_file: webhookSecret }),
    fake: () => () => ({ status: 204 }),
    secrets: ['0123456789abcdefghij', webhookSecret],
    readsStatusOnly: true,
    follows: null,
  },
];
