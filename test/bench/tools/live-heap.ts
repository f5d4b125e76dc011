import { once } from 'node:events';
import type { Running } from '../../support/program.ts';

// What a running program holds after a collection, as the inspector tells it. It is opened by a signal once everything else is
// measured: before that it would cost what it is to find out.

/** Environment of a program whose heap is to be asked for later: its inspector takes any port. */
export const askableHeap = { NODE_OPTIONS: '--inspect-port=0' } as const;

interface Usage {
  readonly usedSize: number;
}

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: {
    readonly sessionId?: string;
    readonly message?: string;
    readonly workerInfo?: { readonly title?: string };
  };
  readonly result?: unknown;
}

const threadsMs = 1_000;
const answerMs = 20_000;
// It waits for something else than a message, so it answers none.
const asleep = 'stop guard';

/** Bytes of living JavaScript objects in the main thread and in all threads of a program, after a collection. */
export async function liveHeap(running: Running): Promise<{ readonly hub: number; readonly threads: number }> {
  running.process.kill('SIGUSR1');
  const { msg } = await running.logged(/^Debugger listening on /);
  const socket = new WebSocket(msg.replace('Debugger listening on ', ''));
  await once(socket, 'open');
  const waiting = new Map<number, (result: unknown) => void>();
  const sessions: string[] = [];
  let lastId = 0;

  function hear({ id, method, params, result }: Message): void {
    if (id !== undefined) waiting.get(id)?.(result);
    const isAsleep = params?.workerInfo?.title?.includes(asleep) ?? false;
    if (method === 'NodeWorker.attachedToWorker' && params?.sessionId !== undefined && !isAsleep)
      sessions.push(params.sessionId);
    if (method === 'NodeWorker.receivedMessageFromWorker') hear(JSON.parse(params?.message ?? '{}') as Message);
  }
  socket.addEventListener('message', ({ data }) => hear(JSON.parse(String(data)) as Message));

  async function call(method: string, params: object, session: string | null): Promise<unknown> {
    const id = (lastId += 1);
    const message = JSON.stringify({ id, method, params });
    const answer = new Promise((resolve, reject) => {
      const limit = setTimeout(() => reject(new Error(`no answer to ${method} within ${answerMs} ms`)), answerMs);
      waiting.set(id, (result) => {
        clearTimeout(limit);
        resolve(result);
      });
    });
    if (session === null) socket.send(message);
    else await call('NodeWorker.sendMessageToWorker', { sessionId: session, message }, null);
    return answer;
  }

  async function measure(session: string | null): Promise<number> {
    await call('HeapProfiler.enable', {}, session);
    await call('HeapProfiler.collectGarbage', {}, session);
    const { usedSize } = (await call('Runtime.getHeapUsage', {}, session)) as Usage;
    return usedSize;
  }

  await call('NodeWorker.enable', { waitForDebuggerOnStart: false }, null);
  await new Promise((resolve) => setTimeout(resolve, threadsMs));
  const hub = await measure(null);
  let threads = 0;
  for (const session of sessions) threads += await measure(session);
  socket.close();
  return { hub, threads };
}
