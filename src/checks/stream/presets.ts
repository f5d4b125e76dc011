import type { Step } from './step.ts';

/** The protocols whose dialogues are ready. */
export const streamPresets = ['smtp', 'imap', 'pop3', 'ftp', 'ldap', 'postgres', 'ssh'] as const;
export type StreamPreset = (typeof streamPresets)[number];

const starttls: Step = { do: 'starttls' };
const send = (payload: string): Step => ({ do: 'send', payload });
const sendBytes = (hex: string): Step => ({ do: 'send', payload: { hex } });
const hear = (regex: string, refusal: string): Step => ({
  do: 'expect',
  expectation: { regex },
  refusal: { regex: refusal },
});

interface Dialogue {
  readonly greeting: readonly Step[];
  /** How TLS is asked for; null if the protocol has no way. */
  readonly secure: readonly Step[] | null;
  /** What is said once connected, and secured if that is wished. */
  readonly rest: readonly Step[];
}

// What smtp and ftp answer if they will not.
const no = String.raw`^[45]\d\d `;
const imapNo = String.raw`^(?:a\d (?:NO|BAD)|\* BYE)\b`;
const pop3No = '^-ERR';

// The ExtendedResponse to message 1 with the result code success (RFC 4511, sections 4.1.9 and 4.12), lengths in either form (X.690,
// section 8.1.3); any other code, and a notice of disconnection (section 4.4.1), is a refusal.
const ldapStarted: Step = {
  do: 'expect',
  expectation: { regex: String.raw`(?s)\x02\x01\x01\x78.{1,5}?\x0a\x01\x00` },
  refusal: { regex: String.raw`(?s)\x02\x01(?:\x01\x78.{1,5}?\x0a\x01[^\x00]|\x00\x78)` },
  words: 'a success result of StartTLS',
};

// The BindResponse to message 2: servers may refuse an anonymous bind, but not as busy (51) or unavailable (52).
const ldapBound: Step = {
  do: 'expect',
  expectation: { regex: String.raw`(?s)\x02\x01\x02\x61.{1,5}?\x0a\x01[^\x33\x34]` },
  refusal: { regex: String.raw`(?s)\x02\x01(?:\x02\x61.{1,5}?\x0a\x01[\x33\x34]|\x00\x78)` },
  words: 'a result of the bind other than busy or unavailable',
};

// What a server answers to a user it does not know: a request for a password, or an ErrorResponse (PostgreSQL, section 55.7). Some
// SQLSTATEs refuse every user: no resources (class 53); it stops, has crashed or starts (57P01 to 57P03), as pg_isready takes it.
// Lengths are no text, but four characters all the same.
const postgresError = String.raw`\AE(?s:.{4})(?:[^C\x00][^\x00]*\x00)*`;
const postgresAnswer: Step = {
  do: 'expect',
  expectation: {
    regex: String.raw`\AR|${postgresError}(?:\x00|C(?:[^5]....|5[^37]...|57[^P]..|57P[^0].|57P0[^123])\x00)`,
  },
  refusal: { regex: String.raw`\A[^ER]|${postgresError}C(?:53...|57P0[123])\x00` },
  words: 'a request for a password, or a refusal of this user alone',
};

const hello = [send('EHLO watchpost.invalid\\r\\n'), hear('^250 ', no)];

const dialogues: Readonly<Record<StreamPreset, Dialogue>> = {
  // RFC 5321, sections 3.1 and 4.1.1.1; RFC 3207.
  smtp: {
    greeting: [hear('^220 ', no)],
    secure: [...hello, send('STARTTLS\\r\\n'), hear('^220 ', no)],
    rest: [...hello, send('QUIT\\r\\n')],
  },
  // RFC 9051, sections 6.1.1, 6.1.3, 6.2.1 and 7.1.
  imap: {
    greeting: [hear(String.raw`^\* (?:OK|PREAUTH)\b`, imapNo)],
    secure: [send('a1 STARTTLS\\r\\n'), hear(String.raw`^a1 OK\b`, imapNo)],
    rest: [send('a2 CAPABILITY\\r\\n'), hear(String.raw`^a2 OK\b`, imapNo), send('a3 LOGOUT\\r\\n')],
  },
  // RFC 1939, section 4; RFC 2595, section 4.
  pop3: {
    greeting: [hear(String.raw`^\+OK`, pop3No)],
    secure: [send('STLS\\r\\n'), hear(String.raw`^\+OK`, pop3No)],
    rest: [send('QUIT\\r\\n'), hear(String.raw`^\+OK`, pop3No)],
  },
  // RFC 959, section 5.4; RFC 4217, section 4.
  ftp: {
    greeting: [hear('^220 ', no)],
    secure: [send('AUTH TLS\\r\\n'), hear('^234 ', no)],
    rest: [send('QUIT\\r\\n'), hear('^221 ', no)],
  },
  // RFC 4511: an anonymous bind (4.2), StartTLS (4.14), an unbind (4.3), with message ids 1 to 3.
  ldap: {
    greeting: [],
    secure: [sendBytes('301d 020101 7718 8016 312e332e362e312e342e312e313436362e3230303337'), ldapStarted],
    rest: [sendBytes('300c 020102 6007 020103 0400 8000'), ldapBound, sendBytes('3005 020103 4200')],
  },
  // PostgreSQL's protocol 3.0: SSLRequest, which is answered by one byte, and a message of startup for no user there is.
  postgres: {
    greeting: [],
    secure: [sendBytes('00000008 04d2162f'), hear('^S', '^[NE]')],
    rest: [sendBytes('00000018 00030000 75736572 00 7761746368706f7374 00 00'), postgresAnswer],
  },
  // RFC 4253, section 4.2.
  ssh: { greeting: [hear(String.raw`^SSH-(?:2\.0|1\.99)-`, String.raw`^SSH-1\.[0-8]`)], secure: null, rest: [] },
};

/** What is said to a server of the kind until TLS starts, that included; null if it has no such command. */
export function untilTls(preset: StreamPreset): readonly Step[] | null {
  const { greeting, secure } = dialogues[preset];
  return secure === null ? null : [...greeting, ...secure, starttls];
}

/** What is said to a server of the kind. */
export function dialogueOf(preset: StreamPreset, isSecured: boolean): readonly Step[] {
  const { greeting, rest } = dialogues[preset];
  return [...((isSecured ? untilTls(preset) : null) ?? greeting), ...rest];
}
