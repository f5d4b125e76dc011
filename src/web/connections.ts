import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Clock } from '#kernel/clock.ts';

/** Cuts a connection whose answer was not read whole within `answerMs` of the request. */
export function cutSlowReaders(app: FastifyInstance, clock: Clock, answerMs: number): void {
  // The idle timeout of a socket starts again with every byte, so a reader of one byte a second would stay for hours.
  app.addHook('onRequest', (request, reply, done) => {
    const timer = clock.after(answerMs, () => request.raw.socket.destroy());
    reply.raw.once('close', () => timer[Symbol.dispose]());
    done();
  });
}

/** Gives a function that cuts the connections without a running request, those that never sent one included. */
export function quietConnections(app: FastifyInstance): () => void {
  // Node's own closeIdleConnections leaves those that never sent a request.
  const quiet = new Set<Socket>();
  app.server.on('connection', (socket) => {
    quiet.add(socket);
    socket.once('close', () => quiet.delete(socket));
  });
  app.server.on('request', (request, response) => {
    const { socket } = request;
    quiet.delete(socket);
    response.once('close', () => {
      if (!socket.destroyed) quiet.add(socket);
    });
  });
  return () => {
    for (const socket of quiet) socket.destroy();
  };
}
