import { type IncomingMessage, request } from 'node:http';
import { messageOf } from '#kernel/errors.ts';
import { receive } from '#kernel/receive.ts';
import { userAgent } from '#kernel/version.ts';

const mostBytes = 8 * 1_048_576;

/** An answer of the engine: its status and its body as text. */
export interface EngineAnswer {
  readonly status: number;
  readonly text: string;
}

/** Why there is no answer. */
export interface EngineTrouble {
  /** Whether the socket is missing or closed to this user, rather than the engine silent. */
  readonly isSocket: boolean;
  readonly reason: string;
}

/** Asks a container engine over its unix socket (Docker Engine API; Podman has it too). Rejects with the signal's reason. */
export async function askEngine(
  socketPath: string,
  path: string,
  signal: AbortSignal,
): Promise<EngineAnswer | EngineTrouble> {
  signal.throwIfAborted();
  const call = request({
    socketPath,
    path,
    agent: false,
    signal,
    headers: { host: 'docker', accept: 'application/json', 'user-agent': userAgent },
  });
  try {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      call.once('response', resolve);
      // It listens on: what comes later must not end the process.
      call.on('error', reject);
      call.end();
    });
    const { bytes, isMore, broken } = await receive(response, mostBytes);
    signal.throwIfAborted();
    if (broken !== null) return { isSocket: false, reason: `the engine broke off: ${messageOf(broken.by)}` };
    if (isMore) return { isSocket: false, reason: `the engine sent more than ${mostBytes} bytes` };
    return { status: response.statusCode ?? 0, text: bytes.toString('utf8') };
  } catch (error) {
    signal.throwIfAborted();
    const code = error instanceof Error && 'code' in error ? error.code : null;
    if (code === 'ENOENT') return { isSocket: true, reason: `there is no ${socketPath}` };
    if (code === 'EACCES' || code === 'ENOTSOCK')
      return { isSocket: true, reason: `${socketPath} cannot be opened: ${messageOf(error)}` };
    if (code === 'ECONNREFUSED')
      return { isSocket: false, reason: `the engine does not run: ${socketPath} is refused` };
    return { isSocket: false, reason: `the engine did not answer: ${messageOf(error)}` };
  } finally {
    call.destroy();
  }
}
