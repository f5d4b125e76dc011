import { createHash, generateKeyPairSync, verify } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import { createSmtpChannel, type SmtpTimeouts } from '#channels/smtp.ts';
import { DeadlineError, systemClock } from '#kernel/clock.ts';
import type { Channel, Message, DeliveryReceipt } from '#monitor/notify/channel.ts';
import { delivery, shopBack, shopDown } from '../../support/incidents.ts';
import { type Certificate, certificate } from '../../support/mail-certificates.ts';
import { compose, smtpServer, template } from '../../support/mails.ts';
import { type SmtpPhase, type SmtpStep, startScriptedSmtp } from '../../support/scripted-smtp.ts';
import { type SmtpSink, type SmtpSinkOptions, startSmtp } from '../../support/smtp.ts';

const down = compose(shopDown, [delivery()]);
const back = compose(shopBack, [delivery({ id: 2, kind: 'resolved' })]);
const written = template.render(down);

// What is silent on purpose is given up after this, which is long beside what anything else takes.
const quick = { dnsMs: 30_000, connectMs: 1_500, greetingMs: 1_500, silenceMs: 1_500, otherMs: 60_000 };
const endless = { dnsMs: 60_000, connectMs: 60_000, greetingMs: 60_000, silenceMs: 60_000, otherMs: 60_000 };

const phases: readonly SmtpPhase[] = ['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot'];

interface Server {
  readonly url: string;
  readonly username?: string;
  readonly password?: string;
  readonly require_tls?: boolean;
  readonly pool?: object;
  readonly ca?: string;
}

function open({ ca, ...server }: Server, timeouts: SmtpTimeouts = endless): Channel {
  return createSmtpChannel({
    server: { ...smtpServer({ from: 'Wächter <alerts@example.com>', ...server }), ca: ca ?? null },
    template,
    hostname: 'monitor.example.com',
    clock: systemClock,
    timeouts,
  });
}

async function send(
  channel: Channel,
  message: Message = down,
  signal = AbortSignal.timeout(50_000),
): Promise<DeliveryReceipt> {
  return channel.send(message, 'ops@example.com', signal);
}

/** Starts a real server, sends a mail to it, and gives both the receipt and what arrived. */
async function through(
  options: SmtpSinkOptions,
  server: Partial<Server> = {},
  scheme = 'smtp',
  message = down,
  timeouts = endless,
): Promise<{ readonly receipt: DeliveryReceipt; readonly received: SmtpSink['received'] }> {
  await using sink = await startSmtp(options);
  const receipt = await send(open({ url: `${scheme}://127.0.0.1:${sink.port}`, ...server }, timeouts), message);
  return { receipt, received: sink.received };
}

describe('a mail that a server takes', () => {
  test('is delivered with the server answer, from the sender to the one recipient', async () => {
    const { receipt, received } = await through({});
    expect(receipt).toEqual({ kind: 'delivered', response: expect.stringMatching(/^250/) });
    expect(received).toEqual([
      expect.objectContaining({ sender: 'alerts@example.com', recipient: 'ops@example.com', secure: false }),
    ]);
  });

  test('has the headers of an automatic message with a fixed id', async () => {
    const { received } = await through({});
    const headers = Object.fromEntries(received[0]!.mail.headers.map(({ key, value }) => [key, value]));
    expect(headers).toMatchObject({
      'message-id': `<${down.id}@example.com>`,
      date: 'Thu, 01 Jan 2026 12:01:30 +0000',
      'auto-submitted': 'auto-generated',
      'list-id': 'Watchpost incidents <watchpost.example.com>',
      'x-watchpost-kind': 'opened',
      'x-watchpost-target': 'shop',
      'x-watchpost-severity': 'critical',
      to: 'ops@example.com',
    });
    expect(headers).not.toHaveProperty('in-reply-to');
    expect(headers).not.toHaveProperty('x-mailer');
    expect(received[0]!.mail.from).toMatchObject({ name: 'Wächter', address: 'alerts@example.com' });
  });

  test('stands in the thread of the first mail about the incident', async () => {
    const { received } = await through({}, {}, 'smtp', back);
    expect(received[0]!.mail).toMatchObject({
      inReplyTo: `<${down.id}@example.com>`,
      references: `<${down.id}@example.com>`,
    });
  });

  test('has the text and the HTML as they were composed', async () => {
    const { received } = await through({});
    expect(received[0]!.mail.text?.replaceAll('\r\n', '\n').trim()).toBe(written.text.trim());
    expect(received[0]!.mail.html?.replaceAll('\r\n', '\n').trim()).toBe(written.html.trim());
    expect(received[0]!.mail.attachments).toEqual([]);
  });

  test('keeps letters beyond ASCII', async () => {
    const incident = { ...shopDown, target: 'Bäckerei 日本', cause: 'Zertifikat ungültig' };
    const message = compose(incident, [delivery()]);
    const { received } = await through({}, {}, 'smtp', message);
    expect(received[0]!.mail.subject).toBe('[DOWN] Bäckerei 日本: Zertifikat ungültig (3 of 4 nodes)');
    expect(received[0]!.mail.text).toContain('Bäckerei 日本 is down');
    expect(received[0]!.raw).toMatch(/^[\p{ASCII}]*$/u);
  });

  test('has no header that a target name or an error smuggled in', async () => {
    const evil = 'shop\r\nBcc: all@example.com\r\n\r\nHello';
    const message = {
      ...down,
      content: { ...down.content, subject: evil },
      incidents: [{ ...shopDown, target: evil }],
    };
    const { received } = await through({}, {}, 'smtp', message);
    const { mail } = received[0]!;
    expect(mail.bcc).toBeUndefined();
    expect(mail.headers.filter(({ key }) => key === 'bcc')).toEqual([]);
    expect(mail.subject).toBe('shop Bcc: all@example.com Hello');
    expect(received[0]!.recipient).toBe('ops@example.com');
  });

  test('goes out again with the same id when it is repeated', async () => {
    await using sink = await startSmtp();
    const channel = open({ url: `smtp://127.0.0.1:${sink.port}` });
    await send(channel);
    await send(channel);
    const ids = sink.received.map(({ mail }) => mail.messageId);
    expect(ids).toEqual([`<${down.id}@example.com>`, `<${down.id}@example.com>`]);
  });

  test('is one session, which ends before send resolves', async () => {
    await using server = await startScriptedSmtp({});
    expect(await send(open({ url: `smtp://127.0.0.1:${server.port}` }))).toMatchObject({ kind: 'delivered' });
    await server.idle();
    expect(server.commands).toEqual(['greeting', 'ehlo', 'mail', 'rcpt', 'data', 'dot']);
  });
});

describe('a mail that is signed', () => {
  test('carries a DKIM signature that the public key verifies', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    await using sink = await startSmtp();
    const written = { dkim: { domain: 'example.com', selector: 'watchpost', key_file: 'x' } };
    const server = smtpServer({ url: `smtp://127.0.0.1:${sink.port}`, ...written }, { 'dkim.key_file': pem });
    const channel = createSmtpChannel({
      server,
      template,
      hostname: 'monitor.example.com',
      clock: systemClock,
      timeouts: endless,
    });
    expect(await send(channel)).toMatchObject({ kind: 'delivered' });
    const [head = '', body = ''] = splitOnce(sink.received[0]!.raw, '\r\n\r\n');
    const fields = head.split(/\r\n(?![ \t])/);
    const signature = fields.find((field) => /^DKIM-Signature:/i.test(field)) ?? '';
    const tags = new Map(
      [
        ...signature
          .replaceAll(/\s+/g, '')
          .replace(/^[^:]*:/, '')
          .matchAll(/([a-z]+)=([^;]*)/g),
      ].map(([, key, value]) => [key, value]),
    );
    expect(Object.fromEntries(tags)).toMatchObject({
      d: 'example.com',
      s: 'watchpost',
      a: 'rsa-sha256',
      c: 'relaxed/relaxed',
    });
    // RFC 6376, 3.4.2 and 3.4.4: the relaxed forms of header fields and of a body that ends in one line end.
    const relaxedBody = `${body
      .replaceAll(/[ \t]+(?=\r\n)/g, '')
      .replaceAll(/[ \t]+/g, ' ')
      .replace(/(?:\r\n)*$/, '')}\r\n`;
    expect(createHash('sha256').update(relaxedBody).digest('base64')).toBe(tags.get('bh'));
    const relaxed = (field: string) => {
      const [name = '', value = ''] = splitOnce(field, ':');
      return `${name.toLowerCase().trim()}:${value
        .replaceAll(/\r\n/g, '')
        .replaceAll(/[ \t]+/g, ' ')
        .trim()}`;
    };
    const signed = (tags.get('h') ?? '').split(':').flatMap((name) => {
      const field = fields.find((one) => one.toLowerCase().startsWith(`${name.toLowerCase()}:`));
      return field === undefined ? [] : [`${relaxed(field)}\r\n`];
    });
    const data = `${signed.join('')}${relaxed(signature).replace(/b=[^;]*$/, 'b=')}`;
    const verified = verify('sha256', Buffer.from(data), publicKey, Buffer.from(tags.get('b') ?? '', 'base64'));
    expect(verified).toBe(true);
  });
});

describe.concurrent('a pool', () => {
  const pool = { connections: 2, messages: 100 };

  test('carries several mails over one connection, and ends with the channel', async () => {
    await using server = await startScriptedSmtp({});
    const channel = open({ url: `smtp://127.0.0.1:${server.port}`, pool });
    for (let count = 0; count < 3; count += 1) expect(await send(channel)).toMatchObject({ kind: 'delivered' });
    expect(server.commands.filter((phase) => phase === 'greeting')).toHaveLength(1);
    expect(server.commands.filter((phase) => phase === 'dot')).toHaveLength(3);
    await channel.close();
    await server.idle();
  });

  test.each(phases.flatMap((phase) => (['hang', 'close'] as const).map((step) => ({ phase, step }))))(
    'with a $step at the $phase ends in a retry, once',
    async ({ phase, step }) => {
      await using server = await startScriptedSmtp({ [phase]: step });
      const channel = open({ url: `smtp://127.0.0.1:${server.port}`, pool }, quick);
      expect(await send(channel)).toMatchObject({
        kind: 'retry',
        ...(phase === 'dot' ? { isUncertain: true, atLeastMs: step === 'hang' ? 900_000 : 120_000 } : {}),
      });
      expect(server.commands.filter((one) => one === phase)).toHaveLength(1);
      await channel.close();
      await server.idle();
    },
  );

  test('lets go of a server that hangs as soon as the signal is aborted', async () => {
    await using server = await startScriptedSmtp({ data: 'hang' });
    const channel = open({ url: `smtp://127.0.0.1:${server.port}`, pool }, endless);
    const controller = new AbortController();
    const sending = send(channel, down, controller.signal);
    await server.reached('data');
    controller.abort(new DeadlineError(60_000));
    expect(await sending).toMatchObject({ kind: 'retry', reason: expect.stringContaining('not done within 60 s') });
    await channel.close();
    await server.idle();
  });
});

function splitOnce(text: string, at: string): readonly string[] {
  const index = text.indexOf(at);
  return [text.slice(0, index), text.slice(index + at.length)];
}

describe.concurrent('TLS', () => {
  let good: Certificate;
  let expired: Certificate;
  let foreign: Certificate;
  beforeAll(async () => {
    [good, expired, foreign] = await Promise.all([
      certificate(),
      certificate({ expired: true }),
      certificate({ only: 'mail.other.example' }),
    ]);
  });

  test.each([
    { name: 'from the start with smtps', scheme: 'smtps', secure: true },
    { name: 'by STARTTLS with smtp where the server offers it', scheme: 'smtp', secure: false },
  ])('is used $name', async ({ scheme, secure }) => {
    const { receipt, received } = await through({ secure, ...good }, { ca: good.cert }, scheme);
    expect(receipt.kind).toBe('delivered');
    expect(received[0]?.secure).toBe(true);
  });

  test.each([
    { name: 'smtps', scheme: 'smtps', secure: true },
    { name: 'STARTTLS', scheme: 'smtp', secure: false },
  ])('is verified with $name: nothing goes to a server with a bad certificate', async ({ scheme, secure }) => {
    const reasons = await Promise.all([
      through({ secure, ...good }, {}, scheme),
      through({ secure, ...expired }, { ca: expired.cert }, scheme),
      through({ secure, ...foreign }, { ca: foreign.cert }, scheme),
    ]);
    expect(reasons.map(({ receipt }) => receipt)).toEqual([
      {
        kind: 'retry',
        reason: expect.stringMatching(
          /^127\.0\.0\.1:\d+: its certificate is not trusted, name its authority in smtp\.ca_file: (?!.*Node)/,
        ),
      },
      { kind: 'retry', reason: expect.stringContaining('its certificate has expired') },
      { kind: 'retry', reason: expect.stringContaining('its certificate is for another name') },
    ]);
    expect(reasons.flatMap(({ received }) => received)).toEqual([]);
  });

  test('is not done without where the configuration requires it and the server does not offer it', async () => {
    const { receipt, received } = await through({}, { require_tls: true });
    expect(receipt).toEqual({ kind: 'retry', reason: expect.stringMatching(/TLS|STARTTLS/) });
    expect(received).toEqual([]);
  });

  test('stripped from the offer never makes a password travel in the clear', async () => {
    await using server = await startScriptedSmtp({ ehlo: ['250-scripted', '250 AUTH PLAIN LOGIN'] });
    const channel = open({ url: `smtp://127.0.0.1:${server.port}`, username: 'alerts', password: 'secret' });
    expect(await send(channel)).toMatchObject({ kind: 'retry' });
    await server.idle();
    expect(server.commands).not.toContain('auth');
    expect(server.commands).not.toContain('mail');
  });

  test('by STARTTLS that the server offers and then refuses means no mail, not an open one', async () => {
    await using server = await startScriptedSmtp({ ehlo: ['250-scripted', '250 STARTTLS'], starttls: ['454 not now'] });
    expect(await send(open({ url: `smtp://127.0.0.1:${server.port}` }))).toMatchObject({ kind: 'retry' });
    await server.idle();
    expect(server.commands).not.toContain('mail');
  });

  test.each([
    { name: 'smtps to a server that speaks no TLS', scheme: 'smtps', script: {} },
    { name: 'smtps to a server that says nothing', scheme: 'smtps', script: { greeting: 'hang' } },
    {
      name: 'STARTTLS where the handshake hangs',
      scheme: 'smtp',
      script: { ehlo: ['250-scripted', '250 STARTTLS'], starttls: ['220 go'] },
    },
  ] as const)('$name ends in time', async ({ scheme, script }) => {
    await using server = await startScriptedSmtp(script);
    expect(await send(open({ url: `${scheme}://127.0.0.1:${server.port}` }, quick))).toMatchObject({ kind: 'retry' });
    await server.idle();
  });

  test('carries the login', async () => {
    const login = { username: 'alerts', password: 'secret' };
    const { receipt, received } = await through(
      {
        secure: true,
        ...good,
        authOptional: false,
        onAuth: ({ username, password }, _session, callback) =>
          callback(null, password === 'secret' ? { user: username } : {}),
      },
      { ca: good.cert, ...login },
      'smtps',
    );
    expect(receipt.kind).toBe('delivered');
    expect(received[0]?.user).toBe('alerts');
  });

  test('does not help a wrong password: the mail waits for the right one', async () => {
    const { receipt } = await through(
      {
        secure: true,
        ...good,
        onAuth: (_login, _session, callback) =>
          callback(Object.assign(new Error('bad credentials'), { responseCode: 535 })),
      },
      { ca: good.cert, username: 'alerts', password: 'old' },
      'smtps',
    );
    expect(receipt).toEqual({ kind: 'retry', reason: expect.stringMatching(/refuses the login.*535/) });
  });

  test('of a server that hangs after the login ends in time', async () => {
    const { receipt } = await through(
      { secure: true, ...good, onAuth: () => {} },
      { ca: good.cert, username: 'alerts', password: 'secret' },
      'smtps',
      down,
      quick,
    );
    expect(receipt).toMatchObject({ kind: 'retry', reason: expect.stringContaining('Timeout') });
  });
});

describe.concurrent('a server that misbehaves', () => {
  test.each(phases.flatMap((phase) => (['hang', 'close', 'reset'] as const).map((step) => ({ phase, step }))))(
    'with a $step at the $phase ends in a retry, in time, with no connection left',
    async ({ phase, step }) => {
      await using server = await startScriptedSmtp({ [phase]: step });
      const receipt = await send(open({ url: `smtp://127.0.0.1:${server.port}` }, quick));
      expect(receipt).toEqual({
        kind: 'retry',
        reason: expect.stringMatching(/^127\.0\.0\.1:\d+: \S/),
        ...(phase === 'dot' ? { isUncertain: true, atLeastMs: step === 'hang' ? 900_000 : 120_000 } : {}),
      });
      expect(server.commands.at(-1)).toBe(phase);
      await server.idle();
    },
  );

  test.each(phases)('by hanging at the %s is left at once when the signal is aborted', async (phase) => {
    await using server = await startScriptedSmtp({ [phase]: 'hang' });
    const controller = new AbortController();
    const channel = open({ url: `smtp://127.0.0.1:${server.port}` }, endless);
    const sending = send(channel, down, controller.signal);
    await server.reached(phase);
    controller.abort(new DeadlineError(60_000));
    expect(await sending).toEqual({
      kind: 'retry',
      reason: expect.stringContaining('not done within 60 s'),
      ...(phase === 'dot' ? { isUncertain: true, atLeastMs: 900_000 } : {}),
    });
    await server.idle();
  });

  test('by talking on without an end is left when the signal is aborted', async () => {
    await using server = await startScriptedSmtp({ mail: 'trickle' });
    const channel = open({ url: `smtp://127.0.0.1:${server.port}` });
    const controller = new AbortController();
    const sending = send(channel, down, controller.signal);
    await server.reached('mail');
    controller.abort(new DeadlineError(60_000));
    expect(await sending).toMatchObject({ kind: 'retry', reason: expect.stringContaining('not done within 60 s') });
    await server.idle();
  });

  test('is left at once when the channel is closed', async () => {
    await using server = await startScriptedSmtp({ data: 'hang' });
    const channel = open({ url: `smtp://127.0.0.1:${server.port}` }, endless);
    const sending = send(channel);
    await server.reached('data');
    await channel.close();
    expect(await sending).toEqual({ kind: 'retry', reason: 'the mail channel is closed' });
    await server.idle();
  });

  const answers: readonly {
    readonly name: string;
    readonly script: Partial<Record<SmtpPhase, SmtpStep>>;
    readonly kind: DeliveryReceipt['kind'];
    readonly says: RegExp;
  }[] = [
    {
      name: 'a greeting of many lines',
      script: { greeting: ['220-a', '220-b', '220 c'] },
      kind: 'delivered',
      says: /250/,
    },
    {
      name: 'a greeting that is not SMTP',
      script: { greeting: ['HTTP/1.1 400 Bad Request', '', 'x'] },
      kind: 'retry',
      says: /HTTP/,
    },
    {
      name: 'a greeting of binary noise',
      script: { greeting: ['\0\u0001\u001B[31m\u0007'] },
      kind: 'retry',
      says: /^[^\p{Cc}]*$/u,
    },
    {
      name: 'a greeting without an end',
      script: { greeting: ['220-x'.repeat(20_000)] },
      kind: 'retry',
      says: /exceeds/,
    },
    {
      name: 'a greeting that sends us away',
      script: { greeting: ['554 no service here'] },
      kind: 'retry',
      says: /554/,
    },
    { name: '421 at any time', script: { rcpt: ['421 closing down'] }, kind: 'retry', says: /421/ },
    {
      name: '450 to the recipient (greylisting)',
      script: { rcpt: ['450 4.2.0 greylisted'] },
      kind: 'retry',
      says: /450 4\.2\.0/,
    },
    { name: '451 to the mail', script: { dot: ['451 try again'] }, kind: 'retry', says: /451/ },
    { name: '452 to the sender', script: { mail: ['452 disk full'] }, kind: 'retry', says: /452/ },
    { name: '530 to the sender (log in first)', script: { mail: ['530 5.7.0 log in'] }, kind: 'retry', says: /530/ },
    { name: '550 to the sender', script: { mail: ['550 go away'] }, kind: 'rejected', says: /550/ },
    {
      name: '550 to the recipient',
      script: { rcpt: ['550 5.1.1 no such user'] },
      kind: 'rejected',
      says: /550 5\.1\.1/,
    },
    { name: '554 to DATA', script: { data: ['554 no valid recipients'] }, kind: 'rejected', says: /554/ },
    { name: '554 to the mail', script: { dot: ['554 5.7.1 looks like spam'] }, kind: 'rejected', says: /554 5\.7\.1/ },
    {
      name: '550 in many lines',
      script: { rcpt: ['550-5.1.1 The account does not exist.', '550 5.1.1 Try again.'] },
      kind: 'rejected',
      says: /does not exist.*Try again/,
    },
  ];

  test.each(answers)('with $name: $kind', async ({ script, kind, says }) => {
    await using server = await startScriptedSmtp(script);
    const receipt = await send(open({ url: `smtp://127.0.0.1:${server.port}` }));
    expect(receipt).toMatchObject({ kind });
    expect('reason' in receipt ? receipt.reason : receipt.response).toMatch(says);
    await server.idle();
  });

  test('first by greylisting takes the mail the second time', async () => {
    let seen = 0;
    await using sink = await startSmtp({
      onRcptTo(_address, _session, callback) {
        seen += 1;
        callback(seen === 1 ? Object.assign(new Error('greylisted'), { responseCode: 450 }) : null);
      },
    });
    const channel = open({ url: `smtp://127.0.0.1:${sink.port}` });
    expect(await send(channel)).toMatchObject({ kind: 'retry' });
    expect(await send(channel)).toMatchObject({ kind: 'delivered' });
    expect(sink.received).toHaveLength(1);
  });

  test('by not being there is tried again, and found on the same port later', async () => {
    await using sink = await startSmtp();
    const channel = open({ url: `smtp://127.0.0.1:${sink.port}` });
    await sink.stop();
    expect(await send(channel)).toEqual({ kind: 'retry', reason: expect.stringContaining('ECONNREFUSED') });
    await sink.start();
    expect(await send(channel)).toMatchObject({ kind: 'delivered' });
  });
});

test('an address that no server could be given is rejected', async () => {
  await using server = await startScriptedSmtp({});
  const channel = open({ url: `smtp://127.0.0.1:${server.port}` });
  const receipt = await channel.send(down, 'ops@example.com>\r\nRCPT TO:<x@example.com', AbortSignal.timeout(50_000));
  expect(receipt).toMatchObject({ kind: 'rejected' });
  expect(server.commands).not.toContain('rcpt');
});

test('a signal that is aborted already opens no connection', async () => {
  await using server = await startScriptedSmtp({});
  const receipt = await send(
    open({ url: `smtp://127.0.0.1:${server.port}` }),
    down,
    AbortSignal.abort(new Error('over')),
  );
  expect(receipt).toEqual({ kind: 'retry', reason: 'over' });
  expect(server.commands).toEqual([]);
});
