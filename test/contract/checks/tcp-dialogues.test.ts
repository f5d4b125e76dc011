import { expect, test } from 'vitest';
import { issue, issueAuthority } from '../../support/certificates.ts';
import { probeOnce } from '../../support/probe-once.ts';
import { startSmtp } from '../../support/smtp.ts';
import { tcpServer } from '../../support/tcp-servers.ts';
import { talkingServer, type Turn } from '../../support/talking-server.ts';

const authority = await issueAuthority();
const certificate = await issue({ names: ['mail.example'], ips: ['127.0.0.1'], ca: authority });
const trusted = { ca: authority.cert };
const hex = (text: string) => Buffer.from(text.replaceAll(' ', ''), 'hex');

const smtpHello: readonly Turn[] = [
  { hear: 'EHLO watchpost.invalid\r\n' },
  { say: '250-mail.example\r\n250-STARTTLS\r\n' },
  { say: '250 SIZE 1000\r\n' },
];
const ldapBind: readonly Turn[] = [
  { hear: hex('300c 020102 6007 020103 0400 8000').toString('latin1') },
  { say: hex('300c 020102 6107 0a0100 0400 0400') },
  { hear: hex('3005 020103 4200').toString('latin1') },
];
const postgresStartup: readonly Turn[] = [
  { hear: '\0\u0003\0\0user\0watchpost\0\0' },
  { say: hex('52 00000008 00000003') },
];

// What the servers of each protocol say, by its RFC; TLS where the mark is.
const scripts: Readonly<
  Record<
    string,
    { readonly before: readonly Turn[]; readonly secure?: readonly Turn[]; readonly rest: readonly Turn[] }
  >
> = {
  smtp: {
    before: [{ say: '220-mail.example\r\n' }, { say: '220 ready\r\n' }],
    secure: [...smtpHello, { hear: 'STARTTLS\r\n' }, { say: '220 go ahead\r\n' }],
    rest: [...smtpHello, { hear: 'QUIT\r\n' }],
  },
  imap: {
    before: [{ say: '* OK [CAPABILITY IMAP4rev2 STARTTLS] ready\r\n' }],
    secure: [{ hear: 'a1 STARTTLS\r\n' }, { say: 'a1 OK begin\r\n' }],
    rest: [
      { hear: 'a2 CAPABILITY\r\n' },
      { say: '* CAPABILITY IMAP4rev2\r\na2 OK done\r\n' },
      { hear: 'a3 LOGOUT\r\n' },
    ],
  },
  pop3: {
    before: [{ say: '+OK ready\r\n' }],
    secure: [{ hear: 'STLS\r\n' }, { say: '+OK begin\r\n' }],
    rest: [{ hear: 'QUIT\r\n' }, { say: '+OK bye\r\n' }],
  },
  ftp: {
    before: [{ say: '220-welcome\r\n220 ready\r\n' }],
    secure: [{ hear: 'AUTH TLS\r\n' }, { say: '234 begin\r\n' }],
    rest: [{ hear: 'QUIT\r\n' }, { say: '221 bye\r\n' }],
  },
  ldap: {
    before: [],
    secure: [{ hear: '1.3.6.1.4.1.1466.20037' }, { say: hex('300c 020101 7807 0a0100 0400 0400') }],
    rest: ldapBind,
  },
  postgres: {
    before: [],
    secure: [{ hear: hex('00000008 04d2162f').toString('latin1') }, { say: 'S' }],
    rest: postgresStartup,
  },
  ssh: { before: [{ say: 'SSH-2.0-OpenSSH_10.0\r\n' }], rest: [] },
};

for (const [preset, { before, secure, rest }] of Object.entries(scripts)) {
  test(`${preset}: a server that says what it should is up`, async () => {
    await using server = await talkingServer([...before, ...rest]);
    expect(await probeOnce('tcp', { host: server.host, preset })).toMatchObject({
      status: 'up',
      detail: { tls: null },
    });
  });

  test(`${preset}: a server that says something else is down`, async () => {
    await using server = await talkingServer([{ say: '?!\r\n' }]);
    const outcome = await probeOnce('tcp', { host: server.host, preset, timeout: '300ms' });
    expect(outcome).toMatchObject({ status: 'down', failure: { source: 'target', code: 'answer' } });
  });

  if (secure === undefined) continue;

  test(`${preset}: TLS starts by its own command`, async () => {
    await using server = await talkingServer([...before, ...secure, 'starttls', ...rest], certificate);
    const outcome = await probeOnce('tcp', { host: server.host, preset, starttls: true, tls: trusted });
    expect(outcome).toMatchObject({ status: 'up', detail: { tls: { certificate: { subject: 'CN=Test server' } } } });
    expect(Object.keys(outcome.phases)).toEqual(expect.arrayContaining(['connect', 'tls', 'first_byte']));
  });

  test(`${preset}: so does the check of the certificate alone`, async () => {
    await using server = await talkingServer([...before, ...secure, 'starttls'], certificate);
    const outcome = await probeOnce('tls', { host: server.host, starttls: preset, ...trusted });
    expect(outcome).toMatchObject({ status: 'up', seconds: outcome.phases.tls });
  });

  test(`${preset}: a certificate that is not trusted is down`, async () => {
    await using server = await talkingServer([...before, ...secure, 'starttls', ...rest], certificate);
    expect(await probeOnce('tcp', { host: server.host, preset, starttls: true })).toMatchObject({
      status: 'down',
      failure: { source: 'target', code: 'certificate_untrusted' },
    });
  });
}

test('a mail server secures the connection', async () => {
  await using server = await startSmtp({ ...certificate, authOptional: true });
  const outcome = await probeOnce('tcp', {
    host: `127.0.0.1:${server.port}`,
    preset: 'smtp',
    starttls: true,
    tls: { ...trusted, server_name: 'mail.example' },
  });
  expect(outcome).toMatchObject({ status: 'up', detail: { tls: { protocol: 'TLSv1.3' } } });
});

test.each([
  { preset: 'smtp', says: '554 no service\r\n' },
  { preset: 'imap', says: '* BYE too busy\r\n' },
  { preset: 'pop3', says: '-ERR locked\r\n' },
  { preset: 'ftp', says: '421 too many\r\n' },
  { preset: 'ssh', says: 'SSH-1.5-old\r\n' },
])('$preset: a refusal in its own words is down at once', async ({ preset, says }) => {
  await using server = await talkingServer([{ say: says }]);
  // Without the refusal it would wait for the whole minute.
  const outcome = await probeOnce('tcp', { host: server.host, preset, timeout: '60s' });
  expect(outcome).toMatchObject({ status: 'down', failure: { code: 'answer' }, detail: { answer: says.trim() } });
});

function postgresError(...fields: readonly string[]): Buffer {
  const body = `${fields.map((field) => `${field}\0`).join('')}\0`;
  const length = Buffer.alloc(4);
  length.writeUInt32BE(4 + Buffer.byteLength(body));
  return Buffer.concat([Buffer.from('E'), length, Buffer.from(body)]);
}

test.each([
  ['the user does not exist', ['SFATAL', 'VFATAL', 'C28000', 'Mrole "watchpost" does not exist'], 'up'],
  ['a pooler knows no such user', ['SFATAL', 'C08P01', 'Mno such user: watchpost'], 'up'],
  ['a long text', ['SFATAL', 'VFATAL', 'C28000', `M${'no entry for the host, '.repeat(10)}`], 'up'],
  ['a text in another language', ['SSCHWERWIEGEND', 'VFATAL', 'C28000', 'MRolle »watchpost« existiert nicht'], 'up'],
  ['no code', ['SFATAL', 'Mwho are you?'], 'up'],
  ['it starts', ['SFATAL', 'VFATAL', 'C57P03', 'Mthe database system is starting up'], 'down'],
  ['it is told to stop', ['SFATAL', 'VFATAL', 'C57P01', 'Mterminating connection'], 'down'],
  ['a neighbour has crashed', ['SWARNING', 'VWARNING', 'C57P02', 'Mterminating connection'], 'down'],
  ['its sessions are used up', ['SFATAL', 'VFATAL', 'C53300', 'Msorry, too many clients already'], 'down'],
  ['its disk is full', ['SFATAL', 'VFATAL', 'C53100', 'Mcould not write'], 'down'],
])('postgres refuses because %s', async (_, fields, status) => {
  const says = postgresError(...fields);
  await using server = await talkingServer([{ say: says.subarray(0, 1) }, { say: says.subarray(1) }]);
  expect(await probeOnce('tcp', { host: server.host, preset: 'postgres', timeout: '60s' })).toMatchObject({ status });
});

test('a server of postgres that ends without room for a process is down', async () => {
  await using server = await tcpServer((socket) => void socket.end('Ecould not fork new process for connection\n\0'));
  expect(await probeOnce('tcp', { host: server.host, preset: 'postgres', timeout: '60s' })).toMatchObject({
    status: 'down',
    failure: { code: 'answer' },
  });
});

test('a server of postgres without TLS says so at once', async () => {
  await using server = await talkingServer([{ hear: '\u0016/' }, { say: 'N' }]);
  const outcome = await probeOnce('tcp', { host: server.host, preset: 'postgres', starttls: true, timeout: '60s' });
  expect(outcome).toMatchObject({ status: 'down', failure: { code: 'answer' } });
});

test.each([
  ['protocolError', '300c 020101 7807 0a0102 0400 0400'],
  ['unavailable, with long lengths', '308400000010 020101 788400000007 0a0134 0400 0400'],
  ['a notice of disconnection', '300c 020100 7807 0a0102 0400 0400'],
])('an LDAP server that does not offer TLS (%s) is down at once, and the failure says so', async (_, says) => {
  const script: readonly Turn[] = [{ hear: '1.3.6.1.4.1.1466.20037' }, { say: hex(says) }];
  for (const type of ['tcp', 'tls'] as const) {
    await using server = await talkingServer(script);
    const how = type === 'tcp' ? { preset: 'ldap', starttls: true } : { starttls: 'ldap' };
    const outcome = await probeOnce(type, { host: server.host, ...how, timeout: '60s' });
    expect(outcome).toMatchObject({
      status: 'down',
      failure: { source: 'target', code: 'answer', message: expect.stringContaining('a success result of StartTLS') },
    });
  }
});

test.each([
  ['invalidCredentials', '300c 020102 6107 0a0131 0400 0400', 'up'],
  ['unwillingToPerform, with long lengths', '308400000010 020102 618400000007 0a0135 0400 0400', 'up'],
  ['busy', '300c 020102 6107 0a0133 0400 0400', 'down'],
  ['unavailable, with long lengths', '308400000010 020102 618400000007 0a0134 0400 0400', 'down'],
  ['a notice of disconnection', '300c 020100 7807 0a0134 0400 0400', 'down'],
])('an LDAP server that answers an anonymous bind with %s', async (_, says, status) => {
  await using server = await talkingServer([{ hear: '\u0060\u0007' }, { say: hex(says) }]);
  expect(await probeOnce('tcp', { host: server.host, preset: 'ldap', timeout: '60s' })).toMatchObject({ status });
});

test('an LDAP server that writes lengths in the long form starts TLS', async () => {
  const says = { say: hex('308400000010 020101 788400000007 0a0100 0400 0400') };
  const script: readonly Turn[] = [{ hear: '1.3.6.1.4.1.1466.20037' }, says, 'starttls'];
  await using server = await talkingServer(script, certificate);
  expect(await probeOnce('tls', { host: server.host, starttls: 'ldap', ...trusted })).toMatchObject({ status: 'up' });
});

test('steps are taken in turn, and what comes behind a match belongs to the next one', async () => {
  await using server = await talkingServer([{ say: 'one two\nthree\n' }, { hear: 'four' }, { say: 'five\n' }]);
  const steps = [
    { expect: 'one' },
    { expect: { regex: '^ two$' } },
    { expect: 'three', send: 'four' },
    { expect: { hex: '66697665' } },
  ];
  expect(await probeOnce('tcp', { host: server.host, steps })).toMatchObject({ status: 'up' });
  expect(server.heard).toEqual(['four']);
});

test('nothing is heard twice', async () => {
  await using server = await talkingServer([{ say: 'ready\n' }]);
  const steps = [{ expect: 'ready' }, { expect: 'ready' }];
  expect(await probeOnce('tcp', { host: server.host, steps, timeout: '300ms' })).toMatchObject({
    status: 'down',
    failure: { code: 'answer', message: expect.stringContaining('does not contain "ready"') },
  });
});

test('what was said in the clear before TLS is not believed after it', async () => {
  await using server = await talkingServer([{ hear: 'tls\n' }, { say: 'ready\nsecret\n' }, 'starttls'], certificate);
  const steps = [{ send: 'tls\\n' }, { expect: 'ready', starttls: true }, { expect: 'secret' }];
  expect(await probeOnce('tcp', { host: server.host, steps, tls: trusted, timeout: '500ms' })).toMatchObject({
    status: 'down',
    failure: { code: 'timeout' },
    detail: { tls: { certificate: { subject: 'CN=Test server' } } },
  });
});

test('a check that is aborted in the middle rejects, and leaves no connection open', async () => {
  const ended = new AbortController();
  await using server = await talkingServer([{ say: 'ready\n' }, { hear: 'on\n' }]);
  const steps = [{ expect: 'ready', send: 'on\\n' }, { expect: 'never' }];
  const checking = probeOnce('tcp', { host: server.host, steps, timeout: '60s' }, ended.signal);
  await expect.poll(() => server.heard, { timeout: 30_000 }).toEqual(['on\n']);
  ended.abort(new Error('enough'));
  await expect(checking).rejects.toThrow('enough');
  await expect.poll(async () => server.connections(), { timeout: 30_000 }).toBe(0);
});

test.each([
  [{ preset: 'smtp', send: 'x' }, 'one of preset, steps, and send with expect'],
  [{ steps: [{ expect: 'a' }], expect: 'b' }, 'one of preset, steps, and send with expect'],
  [{ starttls: true }, 'only a preset has a command for it'],
  [{ preset: 'ssh', starttls: true }, 'ssh has no such command'],
  [{ steps: [{}] }, 'a step expects, sends or starts TLS'],
])('%j is refused', async (options, message) => {
  await expect(probeOnce('tcp', { host: '127.0.0.1:1', ...options })).rejects.toThrow(message);
});
