import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import type * as Ssh2 from 'ssh2';
import type { Client } from 'ssh2';
import { orAbort } from '#kernel/clock.ts';
import { singleLine } from '#kernel/text.ts';
import { type ProbeContext, type ProbeEnvironment, startPlain } from '../check.ts';
import { nothingFound } from '../database/detail.ts';
import { OpenStream } from '../database/open-stream.ts';
import { EarlyEnd, inSession, textOf, unmetValue } from '../database/session.ts';
import { endpointOf } from '../endpoint.ts';
import { type Failure, failure, type Outcome } from '../outcome.ts';
import { converseOver, type Talk } from '../stream/talk.ts';
import { type CommandResult, runCommand, unmetExit } from './command.ts';
import type { Detail } from './detail.ts';
import type { Spec } from './spec.ts';

// Which of its keys a server presents follows from this order, so that the fingerprint to expect is always of the same one.
const hostKeyTypes = [
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
] as const;

export const start = startPlain(probe);

/** Exchanges keys (RFC 4253), and if wished logs in with a key (RFC 4252) and runs a command (RFC 4254). */
async function probe(spec: Spec, context: ProbeContext, environment: ProbeEnvironment): Promise<Outcome<Detail>> {
  const endpoint = endpointOf(spec.host);
  const detail: Detail = { ...nothingFound(), host_key: null, host_key_type: null, exit: null };
  return converseOver({ endpoint, spec, tls: null, detail }, context, environment, async (socket, found) =>
    run(socket, spec, found),
  );
}

async function run(socket: Socket, spec: Spec, found: Talk<Detail>): Promise<Failure | null> {
  const { Client } = loadClient();
  const { detail } = found;
  noteServer(socket, detail);
  const stream = new OpenStream(socket);
  const client = new Client();
  const broken = brokenBy(client);
  const ended: CommandResult[] = [];
  try {
    const wrong = await inSession(found, {
      stream,
      async login() {
        await orAbort(signIn(client, stream, spec, detail), broken);
      },
      async query() {
        if (spec.command === undefined) return;
        const result = await orAbort(runCommand(client, spec.command), broken);
        detail.value = textOf(result.output);
        detail.exit = result.exit;
        ended.push(result);
      },
      isAnswer: (error) => isRefusal(error),
      explain: (error) => unmetHostKey(spec, detail) ?? brokenProtocol(error),
    });
    if (spec.command === undefined) delete found.findings.phases.query;
    if (wrong !== null) return wrong;
    const unmet = ended.map((result) => unmetExit(result, spec.expect.exit)).find((one) => one !== null);
    return unmet ?? unmetValue(spec.expect, detail, found.seconds);
  } finally {
    client.end();
    client.destroy();
    stream.destroy();
  }
}

/** Without a user it is done once the server has proved that it has the host key. */
async function signIn(client: Client, stream: OpenStream, spec: Spec, detail: Detail): Promise<void> {
  const { username, key } = spec;
  return new Promise((resolve, reject) => {
    if (username === undefined) client.once('handshake', () => resolve());
    else client.once('ready', () => resolve());
    try {
      client.connect({
        sock: stream,
        username: username ?? '',
        ...(key !== undefined && { privateKey: key }),
        authHandler: username === undefined ? [] : ['publickey'],
        algorithms: { serverHostKey: [...hostKeyTypes] },
        readyTimeout: 0,
        hostVerifier: (blob: Buffer) => {
          detail.host_key = fingerprintOf(blob);
          detail.host_key_type = typeOf(blob);
          return isExpected(spec, detail.host_key);
        },
      });
    } catch (error) {
      reject(error instanceof Error ? new UnusableKey(singleLine(error.message)) : error);
    }
  });
}

/** The key of the spec cannot be read by the library. */
class UnusableKey extends Error {
  override readonly name = 'UnusableKey';
}

// The first line that begins with "SSH-" (RFC 4253, section 4.2).
function noteServer(socket: Socket, detail: Detail): void {
  let said = '';
  const read = (piece: Buffer) => {
    said += piece.toString('latin1');
    const version = /^SSH-([^\r\n]{1,253})\r?\n/m.exec(said)?.[1];
    if (version !== undefined) detail.server = singleLine(`SSH-${version}`);
    if (version !== undefined || said.length > 8_192) socket.off('data', read);
  };
  socket.on('data', read);
}

/** As `ssh-keygen -l` prints it. */
function fingerprintOf(blob: Buffer): string {
  return `SHA256:${createHash('sha256').update(blob).digest('base64').replace(/=+$/, '')}`;
}

// The blob begins with the length and the name of its kind (RFC 4253, section 6.6).
function typeOf(blob: Buffer): string | null {
  const length = blob.length < 4 ? 0 : blob.readUInt32BE();
  return length === 0 ? null : singleLine(blob.subarray(4, 4 + length).toString('latin1'), 64);
}

function isExpected({ host_key }: Spec, fingerprint: string): boolean {
  return host_key === undefined || host_key.includes(fingerprint);
}

function unmetHostKey(spec: Spec, { host_key, host_key_type }: Detail): Failure | null {
  if (host_key === null || isExpected(spec, host_key)) return null;
  const [first, ...others] = spec.host_key ?? [];
  const expected = others.length === 0 ? first : `one of ${others.length + 1} others`;
  return failure(
    'target',
    'answer',
    `the host key is ${host_key} (${host_key_type ?? 'unknown'}), expected ${expected}`,
  );
}

const levelOf = (error: unknown) => (error instanceof Error && 'level' in error ? error.level : null);

// A disconnection has its reason as a number (RFC 4253, section 11.1), and so has a channel that was not opened.
function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof EarlyEnd || error instanceof RangeError) return false;
  if (levelOf(error) === 'client-authentication') return true;
  const reason = 'code' in error ? error.code : 'reason' in error ? error.reason : null;
  return typeof reason === 'number' || error.message === 'Unable to exec';
}

function brokenProtocol(error: unknown): Failure | null {
  if (error instanceof UnusableKey) return failure('node', 'unsupported', `the key cannot be used: ${error.message}`);
  if (!(error instanceof Error) || error instanceof EarlyEnd || error instanceof RangeError || isRefusal(error))
    return null;
  if (levelOf(error) === 'client-socket' || error.message === 'Connection lost before handshake') return null;
  return failure('target', 'protocol', `the server does not speak SSH as it should: ${error.message}`);
}

// Aborted when the connection breaks. It listens on, because an error that nothing listens for ends the process.
function brokenBy(client: Client): AbortSignal {
  const broken = new AbortController();
  const end = () => broken.abort(new EarlyEnd());
  client.on('error', (error) => broken.abort(error));
  client.once('close', end);
  client.once('end', end);
  return broken.signal;
}

const load = createRequire(import.meta.url);

// Loaded only where such a target is checked, and by `require`: the library asks for the folder that it lies in.
function loadClient(): typeof Ssh2 {
  // Sound because the types are those of this very package.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return load('ssh2') as typeof Ssh2;
}
