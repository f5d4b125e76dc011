import { describe, expect, test } from 'vitest';
import { alertmanager } from '#channels/alertmanager.ts';
import { apprise } from '#channels/apprise.ts';
import { discord } from '#channels/discord.ts';
import { googlechat } from '#channels/googlechat.ts';
import { gotify } from '#channels/gotify.ts';
import { policyOf } from '#channels/index.ts';
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
import type { Channel, Message } from '#monitor/notify/channel.ts';
import { composeMessage } from '#monitor/notify/compose-message.ts';
import { overloaded } from '#monitor/suppress/own-incident-wordings.ts';
import { formFields, jsonOf, openContact, says } from '../../support/http-services.ts';
import { startSink, type Step } from '../../support/http-sink.ts';
import { delivery, shopBack, shopDown } from '../../support/incidents.ts';
import { mailKinds } from '../../support/mail-kinds.ts';
import { part, utc } from '../../support/mails.ts';

const opened = mailKinds[0]!.message;
const reminder = mailKinds[1]!.message;
const resolved = mailKinds[2]!.message;
const late = mailKinds[4]!.message;
const group = mailKinds[6]!.message;
const token = { token_file: 'xoxb-1-2-abcdefghijklmnop' };
const under = (message: Message, reference: string): Message => ({
  ...message,
  beginnings: new Map(message.incidents.map(({ id }) => [id, reference])),
});

async function through(
  open: (origin: string) => Channel,
  messages: readonly Message[],
  answer: (count: number) => Step = () => ({ status: 200 }),
) {
  await using sink = await startSink(() => answer(sink.received.length));
  const channel = open(sink.origin);
  const receipts = [];
  for (const message of messages) receipts.push(await channel.send(message, 'ops', AbortSignal.timeout(20_000)));
  await channel.close();
  const { received } = sink;
  const isForm = received.some(({ headers }) => headers['content-type'] === 'application/x-www-form-urlencoded');
  return { receipts, received, bodies: received.map(isForm ? formFields : jsonOf) as unknown[] };
}

/** The beginning of an incident of Watchpost itself. */
const overload = { ...shopDown, id: 'own overload/overload/1767268890000', target: 'own overload', rule: 'overload' };
const ownOpened = composeMessage(
  [
    part(
      { ...overload, severity: 'warning', wording: overloaded, subject: 'Watchpost', cause: 'too much', votes: [] },
      [delivery({ incidentId: overload.id })],
    ),
  ],
  utc,
);

describe('slack', () => {
  const bot = (origin: string) => openContact(slack, { channel: '#ops', api_url: origin }, token);

  test('shows the subject, the colour and the facts, with control characters escaped', async () => {
    const hostile = { ...opened, content: { ...opened.content, subject: '<!channel> & <https://x|y>' } };
    const { bodies } = await through(bot, [opened, hostile], () => says(200, { ok: true, ts: '1.1' }));
    expect(bodies[0]).toMatchObject({
      channel: '#ops',
      text: opened.content.subject,
      attachments: [
        { color: '#d1242f', blocks: [{ text: { text: expect.stringContaining('*Severity:* critical') } }, {}] },
      ],
      metadata: { event_payload: { id: opened.id } },
    });
    expect(bodies[1]).toMatchObject({ text: '&lt;!channel&gt; &amp; &lt;https://x|y&gt;' });
  });

  test('posts by itself where the thread is gone, or was in another channel', async () => {
    const { receipts, bodies } = await through(
      bot,
      [under(resolved, '#ops 1.1'), under(resolved, '#dev 1.1')],
      (count) => says(200, count === 1 ? { ok: false, error: 'thread_not_found' } : { ok: true, ts: '2.2' }),
    );
    expect(receipts.map(({ kind }) => kind)).toEqual(['delivered', 'delivered']);
    expect(bodies.map((body) => (body as { thread_ts?: string }).thread_ts)).toEqual(['1.1', undefined, undefined]);
  });

  test.each([
    { error: 'msg_too_long', kind: 'rejected' },
    { error: 'invalid_blocks', kind: 'rejected' },
    { error: 'invalid_auth', kind: 'retry' },
    { error: 'channel_not_found', kind: 'retry' },
    { error: 'not_in_channel', kind: 'retry' },
    { error: 'is_archived', kind: 'retry' },
    { error: 'fatal_error', kind: 'retry' },
  ])('that says $error means: $kind', async ({ error, kind }) => {
    const { receipts } = await through(bot, [opened], () => says(200, { ok: false, error }));
    expect(receipts).toEqual([{ kind, reason: error }]);
  });

  test.each([
    { status: 400, body: 'invalid_payload', kind: 'rejected' },
    { status: 400, body: 'user_not_found', kind: 'retry' },
    { status: 403, body: 'action_prohibited', kind: 'retry' },
    { status: 404, body: 'no_service', kind: 'retry' },
    { status: 410, body: 'channel_is_archived', kind: 'retry' },
  ])('whose webhook says $body means: $kind', async ({ kind, ...step }) => {
    const { receipts } = await through(
      (origin) => openContact(slack, { url: origin }),
      [opened],
      () => step,
    );
    expect(receipts).toMatchObject([{ kind, reason: expect.stringContaining(step.body) }]);
  });
});

describe('discord', () => {
  const open = (origin: string) => openContact(discord, { url: `${origin}/api/webhooks/1/abc?thread_id=7` });

  test('mentions nobody, whatever is written, and posts to the thread of the address', async () => {
    const { bodies, received } = await through(open, [opened], () => says(200, { id: '9' }));
    expect(bodies[0]).toMatchObject({ allowed_mentions: { parse: [] }, embeds: [{ color: 0xd1_24_2f }] });
    expect(received[0]?.path).toBe('/api/webhooks/1/abc?thread_id=7&wait=true');
  });

  test('edits the first message when it is over, and says so in a new one', async () => {
    const { received, receipts } = await through(open, [under(resolved, '9')], () => says(200, { id: '10' }));
    expect(received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'PATCH /api/webhooks/1/abc/messages/9?thread_id=7',
      'POST /api/webhooks/1/abc?thread_id=7&wait=true',
    ]);
    expect(receipts).toEqual([{ kind: 'delivered', response: '200 OK', reference: '10' }]);
  });

  test('posts where the first message was deleted', async () => {
    const { receipts } = await through(open, [under(resolved, '9')], (count) =>
      count === 1 ? says(404, { code: 10_008 }) : says(200, { id: '10' }),
    );
    expect(receipts).toMatchObject([{ kind: 'delivered' }]);
  });

  test('does not post while it may not edit for now, so that nothing is said twice', async () => {
    const { receipts, received } = await through(open, [under(resolved, '9')], () =>
      says(429, { retry_after: 0.65, global: false }),
    );
    expect(receipts).toEqual([{ kind: 'retry', reason: '429 Too Many Requests', afterMs: 650 }]);
    expect(received).toHaveLength(1);
  });

  test('is not asked to edit a message that tells of others too', async () => {
    const { receipts } = await through(open, [group], () => says(200, { id: '9' }));
    expect(receipts).toEqual([{ kind: 'delivered', response: '200 OK' }]);
  });
});

describe('teams', () => {
  const open = (origin: string) => openContact(teams, { url: origin });

  test('gets a card with the subject, the facts and what each node saw', async () => {
    const { bodies } = await through(open, [opened], () => ({ status: 202 }));
    expect(JSON.stringify(bodies[0])).toContain('"title":"Severity","value":"critical"');
    expect(JSON.stringify(bodies[0])).toContain('- de1, Frankfurt, Germany, down, connection refused');
  });

  test('that says in words that Teams took nothing is tried again', async () => {
    const body = 'Webhook message delivery failed with error: Microsoft Teams endpoint returned HTTP error 429';
    const { receipts } = await through(open, [opened], () => ({ status: 200, body }));
    expect(receipts).toEqual([{ kind: 'retry', reason: body }]);
  });
});

describe('telegram', () => {
  const files = { token_file: '1234567:ABCdefGHIjklMNOpqrsTUVwxyz_0123456' };
  const open = (origin: string) => openContact(telegram, { chat: '@ops_alerts', thread: 5, api_url: origin }, files);

  test('answers the first message, and gives its own id', async () => {
    const { bodies, receipts } = await through(open, [under(resolved, '@ops_alerts 41')], () =>
      says(200, { ok: true, result: { message_id: 42 } }),
    );
    expect(bodies[0]).toMatchObject({
      chat_id: '@ops_alerts',
      message_thread_id: 5,
      reply_parameters: { message_id: 41, allow_sending_without_reply: true },
    });
    expect(receipts).toEqual([{ kind: 'delivered', response: '200 OK', reference: '@ops_alerts 42' }]);
  });

  test('what a target says is text and no markup', async () => {
    const texts = {
      subject: 'a <b>&',
      headline: 'c <i>&',
      link: 'https://x/?d=<e>&',
      acknowledge: 'https://x/?f=<g>&',
      footer: 'h <j>&',
    };
    const hostile = { ...opened, content: { ...opened.content, ...texts } };
    const { bodies } = await through(open, [hostile], () => says(200, { ok: true, result: { message_id: 1 } }));
    const [{ text }] = bodies as [{ text: string }];
    expect(text.replaceAll(/<\/?[bi]>/g, '')).not.toContain('<');
    for (const part of Object.values(texts))
      expect(text).toContain(part.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;'));
  });

  test('a group that became a supergroup is posted to under its new id', async () => {
    const { bodies, receipts } = await through(open, [opened], (call) =>
      call === 1
        ? says(400, {
            ok: false,
            description: 'Bad Request: group chat was upgraded to a supergroup chat',
            parameters: { migrate_to_chat_id: -1001234567890 },
          })
        : says(200, { ok: true, result: { message_id: 7 } }),
    );
    expect(bodies).toMatchObject([{ chat_id: '@ops_alerts' }, { chat_id: '-1001234567890' }]);
    expect(receipts).toEqual([{ kind: 'delivered', response: '200 OK', reference: '@ops_alerts 7' }]);
  });

  test.each([
    {
      status: 429,
      said: { description: 'Too Many Requests: retry after 35', parameters: { retry_after: 35 } },
      kind: 'retry',
      afterMs: 35_000,
    },
    { status: 400, said: { description: 'Bad Request: chat not found' }, kind: 'retry' },
    { status: 400, said: { description: 'Bad Request: message is too long' }, kind: 'rejected' },
    { status: 401, said: { description: 'Unauthorized' }, kind: 'retry' },
    { status: 403, said: { description: 'Forbidden: bot was kicked from the group chat' }, kind: 'retry' },
  ])('that says $said.description means: $kind', async ({ status, said, kind, ...wait }) => {
    const { receipts } = await through(open, [opened], () => says(status, { ok: false, error_code: status, ...said }));
    expect(receipts).toEqual([{ kind, reason: expect.stringContaining(said.description), ...wait }]);
  });
});

describe('ntfy', () => {
  const open = (origin: string) => openContact(ntfy, { url: origin, topic: 'alerts' });

  test('is loud about what is critical, quiet about its end, and replaces the one by the other', async () => {
    const { bodies, receipts } = await through(open, [opened, under(resolved, opened.id)], () =>
      says(200, { id: 'x' }),
    );
    expect(bodies).toMatchObject([
      { topic: 'alerts', title: opened.content.subject, priority: 5, sequence_id: opened.id },
      { priority: 3, sequence_id: opened.id },
    ]);
    expect(receipts[0]).toMatchObject({ reference: opened.id });
  });

  test('gets reminders beside the beginning', async () => {
    const { bodies } = await through(open, [under(reminder, opened.id)], () => says(200, { id: 'x' }));
    expect(bodies).toMatchObject([{ sequence_id: reminder.id }]);
  });
});

describe('matrix', () => {
  const open = (origin: string) =>
    openContact(matrix, { homeserver: origin, room: '!r:x.org' }, { token_file: 'syt_abc' });

  test('posts by itself where the thread cannot be continued', async () => {
    const { received, receipts } = await through(open, [under(resolved, '!r:x.org $1')], (count) =>
      count === 1 ? says(400, { errcode: 'M_UNKNOWN', error: 'Cannot start threads' }) : says(200, { event_id: '$2' }),
    );
    expect(received.map(({ path }) => path.split('/').at(-1))).toEqual([resolved.id, `${resolved.id}.alone`]);
    expect(receipts).toEqual([{ kind: 'delivered', response: '200 OK', reference: '!r:x.org $2' }]);
  });

  test.each([
    { status: 429, said: { errcode: 'M_LIMIT_EXCEEDED', retry_after_ms: 2_000 }, kind: 'retry', afterMs: 2_000 },
    { status: 403, said: { errcode: 'M_FORBIDDEN' }, kind: 'retry' },
    { status: 413, said: { errcode: 'M_TOO_LARGE' }, kind: 'rejected' },
  ])('that says $said.errcode means: $kind', async ({ status, said, kind, ...wait }) => {
    const { receipts } = await through(open, [opened], () => says(status, said));
    expect(receipts).toEqual([{ kind, reason: expect.stringContaining(said.errcode), ...wait }]);
  });

  test('is sent no HTML of strangers', async () => {
    const hostile = { ...opened, content: { ...opened.content, headline: '<img src=x onerror="y">' } };
    const { bodies } = await through(open, [hostile], () => says(200, { event_id: '$1' }));
    expect(bodies[0]).toMatchObject({
      formatted_body: expect.stringContaining('&lt;img src=x onerror=&quot;y&quot;&gt;'),
    });
  });
});

describe('pagerduty', () => {
  const files = { routing_key_file: '0123456789abcdef0123456789abcdef' };
  const open = (origin: string) => openContact(pagerduty, { url: origin }, files);

  test('has an alert for each incident, resolved under the key that it was triggered with', async () => {
    const { bodies } = await through(open, [opened, resolved, group], () => ({ status: 202 }));
    const [first, second, ...others] = bodies as { event_action: string; dedup_key: string }[];
    expect(first).toMatchObject({
      event_action: 'trigger',
      dedup_key: shopDown.id,
      payload: {
        summary: opened.content.subject,
        severity: 'critical',
        source: 'shop',
        timestamp: '2026-01-01T12:01:00.000Z',
      },
    });
    expect(second).toMatchObject({ event_action: 'resolve', dedup_key: shopDown.id });
    expect(others.map(({ event_action: action }) => action)).toEqual(group.incidents.map(() => 'trigger'));
    expect(new Set(others.map(({ dedup_key: key }) => key)).size).toBe(group.incidents.length);
  });

  test('has an alert for an incident of Watchpost itself, by the name that people know', async () => {
    const { bodies } = await through(open, [ownOpened], () => ({ status: 202 }));
    expect(bodies).toMatchObject([
      {
        event_action: 'trigger',
        dedup_key: overload.id,
        payload: { summary: '[OVERLOADED] Watchpost: too much', severity: 'warning', source: 'Watchpost' },
      },
    ]);
  });

  test('pages nobody for what was over before it could be told', async () => {
    const { bodies } = await through(open, [late], () => ({ status: 202 }));
    expect(bodies).toMatchObject([{ event_action: 'resolve' }]);
  });

  test.each([
    { errors: ["Length of 'routing_key' is incorrect (should be 32 characters)"], kind: 'retry' },
    { errors: ["'payload.summary' is missing or blank"], kind: 'rejected' },
  ])('that says $errors.0 means: $kind', async ({ errors, kind }) => {
    const { receipts } = await through(open, [opened], () =>
      says(400, { status: 'invalid event', message: 'Event object is invalid', errors }),
    );
    expect(receipts).toMatchObject([{ kind, reason: expect.stringContaining(errors[0]!) }]);
  });

  test('is tried again from the first incident on where one was not taken', async () => {
    const { receipts, bodies } = await through(open, [group], (count) => ({ status: count === 2 ? 500 : 202 }));
    expect(receipts).toMatchObject([{ kind: 'retry' }]);
    expect(bodies).toHaveLength(2);
  });
});

describe('opsgenie', () => {
  const open = (origin: string) => openContact(opsgenie, { url: origin }, { api_key_file: 'eb243592-faa2-4ba2-a551' });

  test('creates an alert under the id of the incident, and closes it', async () => {
    const { received, bodies } = await through(open, [opened, reminder, resolved], () => ({ status: 202 }));
    expect(received.map(({ path }) => path)).toEqual([
      '/v2/alerts',
      '/v2/alerts',
      `/v2/alerts/${encodeURIComponent(shopDown.id)}/close?identifierType=alias`,
    ]);
    expect(bodies).toMatchObject([
      { alias: shopDown.id, priority: 'P1', message: opened.content.subject },
      { alias: shopDown.id, note: reminder.content.headline },
      { note: resolved.content.headline },
    ]);
  });

  test('creates one for an incident of Watchpost itself, by the name that people know', async () => {
    const { bodies } = await through(open, [ownOpened], () => ({ status: 202 }));
    expect(bodies).toMatchObject([
      { alias: overload.id, message: '[OVERLOADED] Watchpost: too much', priority: 'P3', entity: 'Watchpost' },
    ]);
  });

  test('that cannot process it for now is tried again', async () => {
    const { receipts } = await through(open, [opened], () => says(422, { message: 'Key may not create alerts' }));
    expect(receipts).toMatchObject([{ kind: 'retry', reason: expect.stringContaining('Key may not create alerts') }]);
  });
});

describe('alertmanager', () => {
  const open = (origin: string) => openContact(alertmanager, { urls: [`${origin}/am`], labels: { env: 'prod' } });

  test('gets what is open with an end in five minutes, and what is over with its end', async () => {
    const { bodies, received } = await through(open, [opened, resolved]);
    const labels = { env: 'prod', alertname: 'WatchpostDown', target: 'shop', rule: 'down', severity: 'critical' };
    expect(bodies).toMatchObject([
      [{ labels, startsAt: '2026-01-01T12:01:00.000Z', endsAt: '2026-01-01T12:06:30.000Z' }],
      [{ labels, startsAt: '2026-01-01T12:01:00.000Z', endsAt: '2026-01-01T12:09:12.000Z' }],
    ]);
    expect(received[0]?.path).toBe('/am/api/v2/alerts');
  });

  test('names an alert by the words of its state', async () => {
    const wording = { ...shopDown.wording, word: 'NO LEADER' };
    const { bodies } = await through(open, [{ ...opened, incidents: [{ ...shopDown, wording }] }]);
    expect(bodies).toMatchObject([[{ labels: { alertname: 'WatchpostNoLeader' } }]]);
  });

  test('gets one more alert for another reason, of which Alertmanager tells people, and the end of both', async () => {
    await using sink = await startSink();
    const channel = open(sink.origin);
    const signal = AbortSignal.timeout(20_000);
    const later = (number: number, at: string, cause: string) =>
      ({ number, at: Date.parse(at), code: 'exit', cause }) as const;
    const one = later(1, '2026-01-01T12:02:00Z', 'ended with exit code 1');
    const two = later(2, '2026-01-01T12:03:00Z', 'ended with exit code 2');
    const send = async (incident: typeof shopDown) => channel.send({ ...opened, incidents: [incident] }, 'ops', signal);
    await send({ ...shopDown, laterCauses: [one] });
    await send({ ...shopDown, laterCauses: [one, two] });
    await send({ ...shopBack, laterCauses: [one, two] });
    const alerts = sink.received.map(({ body }) =>
      (JSON.parse(body) as { labels: Record<string, string>; endsAt: string }[]).map(({ labels, endsAt }) => [
        labels['update'] ?? labels['target'],
        endsAt.slice(11, 19),
      ]),
    );
    expect(alerts).toEqual([
      [
        ['shop', '12:06:30'],
        ['1', '12:06:30'],
      ],
      [
        ['shop', '12:06:30'],
        ['1', '12:03:00'],
        ['2', '12:06:30'],
      ],
      [
        ['shop', '12:09:12'],
        ['1', '12:03:00'],
        ['2', '12:09:12'],
      ],
    ]);
    await channel.close();
  });

  test('is told in every member of a cluster, and one that is away does not matter', async () => {
    await using sink = await startSink();
    const channel = openContact(alertmanager, { urls: ['http://127.0.0.1:1', sink.origin] });
    expect(await channel.send(opened, 'ops', AbortSignal.timeout(20_000))).toMatchObject({ kind: 'delivered' });
    const nobody = openContact(alertmanager, { urls: ['http://127.0.0.1:1'] });
    expect(await nobody.send(opened, 'ops', AbortSignal.timeout(20_000))).toMatchObject({ kind: 'retry' });
    expect(sink.received).toHaveLength(1);
  });

  test('is told of an end after a renewal that is on its way, never before', async () => {
    await using sink = await startSink();
    const channel = open(sink.origin);
    const signal = AbortSignal.timeout(20_000);
    let isOpen = true;
    const renew = async () =>
      channel.renew?.(() => (isOpen ? [{ incident: shopDown, link: null }] : []), 'ops', signal);
    const later: Promise<unknown>[] = [];
    // It is over while the renewal is on its way.
    sink.answer = () => {
      if (isOpen) later.push(channel.send(resolved, 'ops', signal), renew());
      isOpen = false;
      return { status: 200 };
    };
    await renew();
    await Promise.all(later);
    const ends = sink.received.map(({ body }) => JSON.parse(body)[0].endsAt);
    expect(ends).toEqual(['2026-01-01T12:06:30.000Z', new Date(shopBack.endedAt!).toISOString()]);
  });
});

describe('mattermost and rocketchat', () => {
  const hostile = {
    ...opened,
    content: { ...opened.content, subject: '@all *see* [DOWN](x) https://a.example/b_c ops@a.example' },
  };
  const shown = '@\u200Ball \\*see\\* [DOWN]\u200B(x) https://a.example/b_c ops@a.example';

  test('show the text as it is, mention no one, and have the colour', async () => {
    const post = await through((origin) => openContact(mattermost, { url: origin }), [hostile]);
    expect(post.bodies).toMatchObject([{ attachments: [{ title: shown, color: '#d1242f' }] }]);
    const rocket = await through((origin) => openContact(rocketchat, { url: origin }), [hostile]);
    expect(rocket.bodies).toMatchObject([{ text: shown, attachments: [{ color: '#d1242f' }] }]);
  });

  test.each([
    { id: 'web.incoming_webhook.text.app_error', kind: 'rejected' },
    { id: 'web.incoming_webhook.invalid.app_error', kind: 'retry' },
  ])('Mattermost that says $id means: $kind', async ({ id, kind }) => {
    const open = (origin: string) => openContact(mattermost, { url: origin });
    const { receipts } = await through(open, [opened], () => says(400, { id, message: 'said', status_code: 400 }));
    expect(receipts).toEqual([{ kind, reason: '400 Bad Request: said' }]);
  });

  test.each([
    { status: 400, error: 'error-message-size-exceeded', kind: 'rejected' },
    { status: 400, error: 'invalid-channel', kind: 'retry' },
    { status: 200, error: 'invalid-channel', kind: 'retry' },
  ])('Rocket.Chat that says $error with $status means: $kind', async ({ status, error, kind }) => {
    const open = (origin: string) => openContact(rocketchat, { url: origin });
    const { receipts } = await through(open, [opened], () => says(status, { success: false, error }));
    expect(receipts).toMatchObject([{ kind, reason: expect.stringContaining(error) }]);
  });
});

describe('googlechat', () => {
  const open = (origin: string) => openContact(googlechat, { url: `${origin}/v1/spaces/A/messages?key=k&token=t` });
  const named = () => says(200, { name: 'spaces/A/messages/m' });

  test('continues the thread that the first message began, and calls no one', async () => {
    const hostile = { ...opened, content: { ...opened.content, subject: '<users/all>' } };
    const { receipts, received, bodies } = await through(open, [hostile, under(resolved, 'thread-1')], named);
    expect(receipts).toMatchObject([{ reference: opened.id }, { reference: 'thread-1' }]);
    expect(bodies).toMatchObject([
      { text: expect.stringContaining('*<\u200Busers/all>*'), thread: { threadKey: opened.id } },
      { thread: { threadKey: 'thread-1' } },
    ]);
    expect(received[0]?.path).toBe(
      '/v1/spaces/A/messages?key=k&token=t&messageReplyOption=REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD',
    );
  });

  test.each([
    { message: 'API key not valid. Please pass a valid API key.', kind: 'retry' },
    { message: 'Message cannot have more than 4096 characters.', kind: 'rejected' },
  ])('that says "$message" means: $kind', async ({ message, kind }) => {
    const { receipts } = await through(open, [opened], () => says(400, { error: { code: 400, message } }));
    expect(receipts).toMatchObject([{ kind, reason: expect.stringContaining(message) }]);
  });
});

describe('gotify', () => {
  test('has a priority by severity and tone, opens the page, and keeps the token out of the address', async () => {
    const link = 'https://watchpost.example.com/incidents/1';
    const linked = { ...opened, content: { ...opened.content, link } };
    const warning = { ...opened, incidents: [{ ...shopDown, severity: 'warning' as const }] };
    const open = (origin: string) => openContact(gotify, { url: `${origin}/` }, { token_file: 'AKoW5h3uYqPmn2d' });
    const { received, bodies } = await through(open, [linked, warning, resolved], () => says(200, { id: 1 }));
    expect(bodies).toMatchObject([
      { priority: 8, extras: { 'client::notification': { click: { url: link } } } },
      { priority: 5 },
      { priority: 4 },
    ]);
    expect(received[0]).toMatchObject({ path: '/message', headers: { 'x-gotify-key': 'AKoW5h3uYqPmn2d' } });
  });
});

describe('pushover', () => {
  const files = { token_file: 'azGDORePK8gMaC0QOYAMyEEuzJnyUi', user_file: 'uQiRzpo4DXghDmr9QzzfQu27cmVRsG' };
  const open = (origin: string) => openContact(pushover, { url: origin, device: 'phone' }, files);
  const taken = () => says(200, { status: 1, request: 'r', receipt: 'receipt1' });

  test('alarms until it is acknowledged if it is critical, once, and never in HTML', async () => {
    const warning = { ...opened, incidents: [{ ...shopDown, severity: 'warning' as const }] };
    const { receipts, bodies } = await through(open, [opened, under(reminder, 'receipt1'), warning], taken);
    expect(receipts[0]).toMatchObject({ kind: 'delivered', reference: 'receipt1' });
    expect(bodies).toMatchObject([
      { priority: 2, retry: 60, expire: 3_600, device: 'phone', user: files.user_file },
      { priority: 1 },
      { priority: 1 },
    ]);
    expect(bodies.map((body) => Object.keys(body as object))).not.toContainEqual(expect.arrayContaining(['html']));
    expect(bodies[1]).not.toHaveProperty('retry');
  });

  test('stops the alarm when the incident is over, and says that it is', async () => {
    const { received, bodies } = await through(open, [under(resolved, 'receipt1')], taken);
    expect(received.map(({ path }) => path)).toEqual(['/1/receipts/receipt1/cancel.json', '/1/messages.json']);
    expect(bodies[1]).toMatchObject({ priority: 0, title: resolved.content.subject });
  });

  test('stops the alarm of each incident that is over, whatever else the message tells', async () => {
    const [one, other] = [shopBack, { ...shopBack, id: 'blog/down/1', target: 'blog' }];
    const beginnings = new Map([
      [one.id, 'receipt1'],
      [other.id, 'receipt2'],
      ['mail/down/1', 'receipt3'],
    ]);
    const digest = {
      ...resolved,
      kind: 'digest' as const,
      incidents: [one, other, { ...shopDown, id: 'mail/down/1' }],
    };
    const { received } = await through(open, [{ ...digest, beginnings }], taken);
    expect(received.map(({ path }) => path)).toEqual([
      '/1/receipts/receipt1/cancel.json',
      '/1/receipts/receipt2/cancel.json',
      '/1/messages.json',
    ]);
  });

  test.each([
    { status: 404, calls: 2, kind: 'delivered' },
    { status: 400, calls: 2, kind: 'delivered' },
    { status: 429, calls: 1, kind: 'retry' },
    { status: 503, calls: 1, kind: 'retry' },
  ])('that answers $status to the stop makes $calls calls', async ({ status, calls, kind }) => {
    const { receipts, received } = await through(open, [under(resolved, 'receipt1')], (count) =>
      count === 1 ? says(status, { status: 0, errors: ['receipt not found'] }) : taken(),
    );
    expect(receipts).toMatchObject([{ kind }]);
    expect(received).toHaveLength(calls);
  });

  test.each([
    { error: 'user identifier is invalid', kind: 'retry' },
    { error: 'message cannot be blank', kind: 'rejected' },
  ])('that says "$error" means: $kind', async ({ error, kind }) => {
    const { receipts } = await through(open, [opened], () => says(400, { status: 0, errors: [error] }));
    expect(receipts).toMatchObject([{ kind, reason: expect.stringContaining(error) }]);
  });
});

describe('zulip', () => {
  const open = (origin: string) =>
    openContact(
      zulip,
      { url: origin, bot: 'w@example.com', stream: 12, topic: 'ops' },
      { api_key_file: 'k'.repeat(32) },
    );

  test('posts to the topic and mentions no one', async () => {
    const hostile = { ...opened, content: { ...opened.content, subject: String.raw`@**all** a\b_c` } };
    const { bodies } = await through(open, [hostile], () => says(200, { result: 'success', msg: '', id: 1 }));
    expect(bodies).toMatchObject([
      {
        type: 'stream',
        to: '12',
        topic: 'ops',
        content: expect.stringContaining('**@\u200B*\u200B*\u200Ball*\u200B*\u200B a\\b_c**'),
      },
    ]);
  });

  test('that knows no such channel is tried again', async () => {
    const answer = { result: 'error', code: 'STREAM_DOES_NOT_EXIST', msg: "Channel 'ops' does not exist" };
    const { receipts } = await through(open, [opened], () => says(400, answer));
    expect(receipts).toMatchObject([{ kind: 'retry', reason: expect.stringContaining('does not exist') }]);
  });
});

describe('webex', () => {
  const room = 'Y2lzY29zcGFyazovL3VzL1JPT00vYmJjZWIxYWQ';
  const open = (origin: string) => openContact(webex, { room, url: origin }, { token_file: 'N'.repeat(40) });

  test('posts by itself if the first message was deleted, or was in another room', async () => {
    const { receipts, bodies } = await through(
      open,
      [under(resolved, `${room} m1`), under(resolved, 'R m1')],
      (count) => (count === 1 ? says(404, { message: 'Unable to find parent message' }) : says(200, { id: 'm2' })),
    );
    expect(receipts).toMatchObject([{ reference: `${room} m2` }, { reference: `${room} m2` }]);
    expect(bodies.map((body) => (body as { parentId?: string }).parentId)).toEqual(['m1', undefined, undefined]);
  });
});

describe('splunkoncall', () => {
  const open = (origin: string) => openContact(splunkoncall, { url: `${origin}/alert/key/ops` });

  test('has one incident for each of ours, which the end resolves', async () => {
    const warning = { ...opened, incidents: [{ ...shopDown, severity: 'warning' as const }] };
    const { bodies } = await through(open, [opened, warning, resolved], () => says(200, { result: 'success' }));
    expect(bodies).toMatchObject([
      { message_type: 'CRITICAL', entity_id: shopDown.id, entity_display_name: opened.content.subject },
      { message_type: 'WARNING', entity_id: shopDown.id },
      { message_type: 'RECOVERY', entity_id: shopDown.id },
    ]);
  });

  test('has one for an incident of Watchpost itself, by the name that people know', async () => {
    const { bodies } = await through(open, [ownOpened], () => says(200, { result: 'success' }));
    expect(bodies).toMatchObject([
      { message_type: 'WARNING', entity_id: overload.id, entity_display_name: '[OVERLOADED] Watchpost: too much' },
    ]);
  });

  test.each([{ status: 200 }, { status: 400 }])('that fails with $status is tried again', async ({ status }) => {
    const { receipts } = await through(open, [opened], () => says(status, { result: 'failure', messages: 'bad key' }));
    expect(receipts).toMatchObject([{ kind: 'retry', reason: expect.stringContaining('bad key') }]);
  });
});

describe('twilio', () => {
  const account = `AC${'0'.repeat(32)}`;
  const entry = { account, from: `MG${'1'.repeat(32)}`, to: '+15558675310' };
  const open = (origin: string) =>
    openContact(twilio, { ...entry, key: `SK${'2'.repeat(32)}`, url: origin }, { token_file: 'f'.repeat(32) });

  test('sends a short text by a messaging service, with the key of the account', async () => {
    const { received, bodies } = await through(open, [opened], () => says(201, { sid: 'SM1' }));
    expect(bodies).toEqual([
      { To: '+15558675310', MessagingServiceSid: entry.from, Body: expect.stringContaining(opened.content.subject) },
    ]);
    const credentials = Buffer.from(`SK${'2'.repeat(32)}:${'f'.repeat(32)}`).toString('base64');
    expect(received[0]?.headers.authorization).toBe(`Basic ${credentials}`);
  });

  test('calls for what is critical and begins or goes on, and writes the rest', async () => {
    const caller = (origin: string) =>
      openContact(twilio, { ...entry, from: '+15017122661', call: true, url: origin }, { token_file: 'f'.repeat(32) });
    const warning = { ...opened, incidents: opened.incidents.map((one) => ({ ...one, severity: 'warning' as const })) };
    const hostile = { ...opened, content: { ...opened.content, headline: '</Say><Play>x</Play> & "co"' } };
    const digest = { ...opened, content: { ...opened.content, kind: 'digest' as const } };
    const story = { ...digest, incidents: [shopBack] };
    const messages = [opened, reminder, warning, resolved, hostile, digest, story];
    const { received, bodies } = await through(caller, messages, () => says(201, { sid: 'CA1' }));
    expect(received.map(({ path }) => path.split('/').at(-1))).toEqual([
      'Calls.json',
      'Calls.json',
      'Messages.json',
      'Messages.json',
      'Calls.json',
      'Calls.json',
      'Messages.json',
    ]);
    expect(bodies[0]).toEqual({
      To: '+15558675310',
      From: '+15017122661',
      Twiml: `<Response><Say loop="2" language="en-US">Watchpost. ${opened.content.headline}</Say></Response>`,
    });
    expect(bodies[4]).toMatchObject({ Twiml: expect.stringMatching(/<Say [^<>]*>[^<>&"]*<\/Say><\/Response>$/) });
  });

  test.each([
    { code: 21_617, kind: 'rejected' },
    { code: 21_211, kind: 'retry' },
    { code: 21_610, kind: 'retry' },
  ])('that says $code means: $kind', async ({ code, kind }) => {
    const { receipts } = await through(open, [opened], () => says(400, { code, message: 'said', status: 400 }));
    expect(receipts).toEqual([{ kind, reason: `400 Bad Request: ${code} said` }]);
  });
});

describe('signal', () => {
  test('that cannot send for now is tried again', async () => {
    const open = (origin: string) =>
      openContact(signal, { url: `${origin}/`, number: '+15017122661', recipients: ['group.YWJj='] });
    const { receipts, received } = await through(open, [opened], () => says(400, { error: 'Unregistered user' }));
    expect(receipts).toEqual([{ kind: 'retry', reason: '400 Bad Request: Unregistered user' }]);
    expect(received[0]?.path).toBe('/v2/send');
  });
});

describe('apprise', () => {
  const open = (origin: string) => openContact(apprise, { url: `${origin}/notify/key` });

  test('says what kind of message it is', async () => {
    const { bodies } = await through(open, [opened, resolved]);
    expect(bodies).toMatchObject([
      { type: 'failure', title: opened.content.subject },
      { type: 'success', title: resolved.content.subject },
    ]);
  });

  test('without a configuration for the key has delivered nothing', async () => {
    const { receipts } = await through(open, [opened], () => ({ status: 204 }));
    expect(receipts).toMatchObject([{ kind: 'retry', reason: expect.stringContaining('no configuration') }]);
  });

  test('one of whose services failed is not asked again at once', async () => {
    const { receipts } = await through(open, [opened], () => says(424, { error: 'one failed' }));
    expect(receipts).toMatchObject([{ kind: 'retry', isUncertain: true, atLeastMs: 900_000 }]);
  });
});

describe('a webhook with a template of its own', () => {
  const files = { template_file: '{"text": {{ subject | json }}, "n": {{ incidents.size }}}' };

  test('posts what it makes, with headers of its own, and signs it where there is a secret', async () => {
    const open = (origin: string) =>
      openContact(webhook, { url: origin, headers: { Authorization: 'Bearer abc' } }, { ...files, secret_file: 's' });
    const { bodies, received } = await through(open, [opened]);
    expect(bodies).toEqual([{ text: opened.content.subject, n: 1 }]);
    expect(received[0]?.headers).toMatchObject({
      authorization: 'Bearer abc',
      'watchpost-signature': expect.stringMatching(/^t=\d+,v1=[\da-f]{64}$/),
    });
  });

  test('says why it cannot tell a message, and is tried again', async () => {
    const open = (origin: string) =>
      openContact(webhook, { url: origin }, { template_file: '{{ incidents[0].nothing }}' });
    const { receipts, received } = await through(open, [opened]);
    expect(receipts).toMatchObject([
      { kind: 'retry', reason: expect.stringMatching(/^template_file: cannot be used .*nothing/) },
    ]);
    expect(received).toEqual([]);
  });
});

test.each([
  { channel: 'email', changes: {} },
  { channel: 'slack', changes: {} },
  { channel: 'pagerduty', changes: { grouping: null, storm: null } },
  { channel: 'opsgenie', changes: { grouping: null, storm: null } },
  { channel: 'splunkoncall', changes: { grouping: null, storm: null } },
  { channel: 'alertmanager', changes: { grouping: { waitMs: 0, intervalMs: 0 }, storm: null, remindMs: [] } },
])('$channel is told as its recipients wish, but for what it does itself', ({ channel, changes }) => {
  const wished = {
    grouping: { waitMs: 1, intervalMs: 2 },
    storm: { messages: 3, perMs: 4 },
    remindMs: [5],
    zone: 'UTC',
  };
  expect(policyOf(channel, wished)).toEqual({ ...wished, ...changes });
});
