import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** A browser with its keys, as a push service and a page see it. */
export function createPushBrowser() {
  const pair = createECDH('prime256v1');
  pair.generateKeys();
  const auth = randomBytes(16);
  return {
    p256dh: pair.getPublicKey('base64url'),
    auth: auth.toString('base64url'),
    /** Decrypts a body of `aes128gcm` in one record (RFC 8188, RFC 8291). Throws if it was changed, or is for another browser. */
    decrypt(body: Buffer): string {
      const [salt, theirs] = [body.subarray(0, 16), body.subarray(21, 21 + body.readUInt8(20))];
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), pair.getPublicKey(), theirs]);
      const derive = (secret: Buffer, by: Buffer, what: Buffer, bytes: number) =>
        Buffer.from(hkdfSync('sha256', secret, by, what, bytes));
      const shared = derive(pair.computeSecret(theirs), auth, info, 32);
      const key = derive(shared, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16);
      const nonce = derive(shared, salt, Buffer.from('Content-Encoding: nonce\0'), 12);
      const decipher = createDecipheriv('aes-128-gcm', key, nonce);
      const record = body.subarray(21 + theirs.length);
      if (record.length > body.readUInt32BE(16)) throw new RangeError('more than one record');
      decipher.setAuthTag(record.subarray(-16));
      const text = Buffer.concat([decipher.update(record.subarray(0, -16)), decipher.final()]);
      const end = text.lastIndexOf(2);
      if (end === -1 || text.subarray(end + 1).some((byte) => byte !== 0)) throw new RangeError('no end of the record');
      return text.subarray(0, end).toString('utf8');
    },
  };
}

/** The claims of a header `Authorization` (RFC 8292), whose signature is verified with the key in it. Throws if it is wrong. */
export function verifiedVapid(header: string | undefined) {
  const [, token = '', k = ''] = /^vapid t=([\w-]+\.[\w-]+\.[\w-]+), k=([\w-]+)$/.exec(header ?? '') ?? [];
  const point = Buffer.from(k, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((half) => half.toString('base64url'));
  const key = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x: x!, y: y! }, format: 'jwk' });
  const [head = '', claims = '', signature = ''] = token.split('.');
  const signed = Buffer.from(`${head}.${claims}`);
  const isRight = verify('sha256', signed, { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
  if (!isRight) throw new RangeError('the signature is wrong');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  return { key: k, head: read(head), claims: read(claims) };
}

export interface Pushed {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** A push service on this machine (RFC 8030); it never answers where it has no status for a path. */
export async function startPushService(statusOf: (path: string) => number | null = () => 201) {
  const received: Pushed[] = [];
  const server = createServer((request, response) => {
    void buffer(request).then((body) => {
      const { method = '', url: path = '', headers } = request;
      received.push({ method, path, headers, body });
      const status = service.statusOf(path);
      if (status !== null) response.writeHead(status, { location: '/message/1' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const service = {
    origin: `http://127.0.0.1:${port}`,
    received,
    statusOf,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return service;
}
