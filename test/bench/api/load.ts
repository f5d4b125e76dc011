import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Load {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly count: number;
}

/** What is asked next, and what to do with the answer. */
export type Ask = (connection: number) => { readonly path: string; answered(body: string): void };

/**
 * As many keep-alive connections as told, each asking again as soon as it is answered, until the time is up or `count` are
 * answered. A client of few instructions: it must cost less than what it measures. Throws where an answer is not 200.
 */
export async function putLoad(
  base: string,
  connections: number,
  ask: Ask,
  end: { ms?: number; count?: number },
): Promise<Load> {
  const { hostname, port } = new URL(base);
  const latencies: number[] = [];
  const began = performance.now();
  const until = began + (end.ms ?? Number.POSITIVE_INFINITY);
  const most = end.count ?? Number.POSITIVE_INFINITY;
  let asked = 0;

  const work = async (index: number): Promise<void> => {
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    await once(socket, 'connect');
    try {
      while (performance.now() < until && asked < most) {
        asked += 1;
        const question = ask(index);
        const sent = performance.now();
        socket.write(`GET ${question.path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAccept: application/json\r\n\r\n`);
        const body = await answerOf(socket);
        latencies.push(performance.now() - sent);
        question.answered(body);
      }
    } finally {
      socket.destroy();
    }
  };

  await Promise.all(Array.from({ length: connections }, async (_, index) => work(index)));
  const seconds = (performance.now() - began) / 1_000;
  const sorted = Float64Array.from(latencies).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { perSecond: latencies.length / seconds, p50: at(0.5), p99: at(0.99), count: latencies.length };
}

async function answerOf(socket: Socket): Promise<string> {
  return new Promise<string>((resolve, reject) => {
    let text = '';
    const onData = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const head = text.indexOf('\r\n\r\n');
      if (head === -1) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < head + 4 + length) return;
      socket.off('data', onData).off('error', reject);
      if (text.startsWith('HTTP/1.1 200 ')) resolve(text.slice(head + 4));
      else reject(new Error(text.slice(0, 500)));
    };
    socket.on('data', onData).once('error', reject);
  });
}
