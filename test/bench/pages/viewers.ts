import { once } from 'node:events';
import { Agent, get } from 'node:http';

/** Streams that are open, and what came through them. */
export interface Viewers extends Disposable {
  bytes(): number;
  /** How many are connected. */
  count(): number;
}

/** Opens so many streams, as so many browsers would, each back when it is ended. */
export async function openViewers(url: string, count: number): Promise<Viewers> {
  let bytes = 0;
  const open = new Set<number>();
  let isOver = false;
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });

  function view(number: number): ReturnType<typeof get> {
    const request = get(
      url,
      { agent, headers: { accept: 'text/event-stream', 'accept-encoding': 'gzip' } },
      (response) => {
        open.add(number);
        response.on('data', (chunk: Buffer) => void (bytes += chunk.length));
        response.on('close', () => {
          open.delete(number);
          if (!isOver) setTimeout(view, 100, number);
        });
      },
    );
    request.on('error', () => {
      if (!isOver) setTimeout(view, 1_000, number);
    });
    return request;
  }

  for (let number = 0; number < count; number += 50) {
    await Promise.all(
      Array.from({ length: Math.min(50, count - number) }, async (_, index) => once(view(number + index), 'response')),
    );
  }
  return {
    bytes: () => bytes,
    count: () => open.size,
    [Symbol.dispose]() {
      isOver = true;
      agent.destroy();
    },
  };
}
