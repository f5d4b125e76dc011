import { Server, ServerCredentials } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import type { Issued } from './certificates.ts';

interface Running extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
}

/** gRPC's own server with its own health service. */
export async function grpcServer(secured: Issued | null = null): Promise<Running> {
  const server = new Server();
  new HealthImplementation({ '': 'SERVING', 'shop.Orders': 'SERVING', 'shop.Carts': 'NOT_SERVING' }).addToServer(
    server,
  );
  const credentials =
    secured === null
      ? ServerCredentials.createInsecure()
      : ServerCredentials.createSsl(null, [
          { cert_chain: Buffer.from(secured.cert), private_key: Buffer.from(secured.key) },
        ]);
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', credentials, (error, bound) => (error === null ? resolve(bound) : reject(error)));
  });
  return {
    host: `127.0.0.1:${port}`,
    port,
    async [Symbol.asyncDispose]() {
      server.forceShutdown();
    },
  };
}
