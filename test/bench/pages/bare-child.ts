import Fastify from 'fastify';

// A bare route of the same framework that answers with a page of the size that it is asked for, and tells its port.
const app = Fastify();
app.get<{ Params: { bytes: string } }>('/:bytes', (request, reply) =>
  reply.type('text/html; charset=utf-8').send('x'.repeat(Number(request.params.bytes))),
);
await app.listen({ host: '127.0.0.1', port: 0 });
const address = app.server.address();
if (address !== null && typeof address === 'object') process.send?.(address.port);
