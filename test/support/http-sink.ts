import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export interface Received {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * What to do with a request that has come whole: answer it, never answer it, drop the connection instead, or break off in the
 * middle of the answer.
 */
export type Step =
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string }
  | 'hang'
  | 'drop'
  | 'cut';

/** An HTTP server on a free port that remembers what it was sent, and answers as it is told to. */
export interface Sink extends AsyncDisposable {
  readonly origin: string;
  readonly received: Received[];
  answer: (received: Received) => Step;
}

export async function startSink(answer: Sink['answer'] = () => ({ status: 200 })): Promise<Sink> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { method = '', url: path = '', headers } = request;
      const one = { method, path, headers, body };
      received.push(one);
      const step = sink.answer(one);
      if (step === 'hang') return;
      if (step === 'drop') return void response.socket?.destroy();
      if (step === 'cut') {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
        response.write('{"ok":', () => response.socket?.destroy());
        return;
      }
      response.writeHead(step.status, step.headers ?? {}).end(step.body ?? '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const sink: Sink = {
    origin: `http://127.0.0.1:${port}`,
    received,
    answer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return sink;
}
