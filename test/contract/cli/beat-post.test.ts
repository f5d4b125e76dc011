import dns from 'node:dns';
import { text } from 'node:stream/consumers';
import { expect, test, vi } from 'vitest';
import { postBeat } from '#cli/beat/beat-post.ts';
import { messageOf } from '#kernel/errors.ts';
import { issue } from '../../support/certificates.ts';
import { serveHttp, serveHttps } from '../../support/http-servers.ts';
import { closedPort, tcpServer } from '../../support/tcp-servers.ts';

const never = new AbortController().signal;

interface HeardRequest {
  readonly line: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** A server that redirects everything but `/there`. */
async function redirecting(status: number, location: string) {
  const heard: HeardRequest[] = [];
  const server = await serveHttp((request, response) => {
    void text(request).then((body) => {
      const { authorization, 'content-type': type, 'content-length': length } = request.headers;
      heard.push({ line: `${request.method} ${request.url}`, body, headers: { authorization, type, length } });
      if (request.url?.startsWith('/there') === true) response.end('OK');
      else response.writeHead(status, { location }).end('elsewhere');
    });
  });
  return { ...server, heard, lines: () => heard.map(({ line }) => line) };
}

async function whyNot(url: string, signal = never): Promise<string> {
  return postBeat(url, 'the end', signal).then(
    ({ statusCode }) => `it answered ${statusCode}`,
    (error: unknown) => messageOf(error),
  );
}

test.each([301, 302, 307, 308])('a redirect within the server keeps the method and the body: %i', async (status) => {
  await using there = await redirecting(status, Buffer.from('/there?a=ü').toString('latin1'));
  const { statusCode } = await postBeat(`http://me:my%40word@127.0.0.1:${there.port}/beat`, 'the end', never);
  expect(statusCode).toBe(200);
  const headers = { authorization: `Basic ${btoa('me:my@word')}`, type: 'text/plain', length: '7' };
  expect(there.heard).toEqual([
    { line: 'POST /beat', body: 'the end', headers },
    { line: 'POST /there?a=%C3%BC', body: 'the end', headers },
  ]);
});

test('a redirect to another server takes no credentials with it, and the body only by 307 or 308', async () => {
  await using other = await redirecting(200, '');
  for (const status of [301, 302, 303, 307, 308]) {
    await using there = await redirecting(status, `http://127.0.0.1:${other.port}/there`);
    expect(await whyNot(`http://me:word@127.0.0.1:${there.port}/beat`)).toBe('it answered 200');
  }
  const without = { authorization: undefined, type: undefined, length: undefined };
  const get = { line: 'GET /there', body: '', headers: without };
  const post = { line: 'POST /there', body: 'the end', headers: { ...without, type: 'text/plain', length: '7' } };
  expect(other.heard).toEqual([get, get, get, post, post]);
});

test('303 asks for the other address, ten redirects are followed, and what is no address over HTTP is not', async () => {
  await using there = await redirecting(303, '/there');
  expect(await whyNot(`http://127.0.0.1:${there.port}/beat`)).toBe('it answered 200');
  expect(there.lines()).toEqual(['POST /beat', 'GET /there']);
  await using loop = await redirecting(302, '/beat');
  expect(await whyNot(`http://127.0.0.1:${loop.port}/beat`)).toBe('Redirected 10 times. Aborting.');
  expect(loop.heard).toHaveLength(11);
  for (const [location, why] of [
    ['ftp://127.0.0.1/there', 'Unsupported protocol: ftp:'],
    ['http://[', 'Invalid URL'],
    ['', 'it answered 302'],
  ] as const) {
    await using wrong = await redirecting(302, location);
    expect(await whyNot(`http://127.0.0.1:${wrong.port}/beat`)).toBe(why);
  }
});

test('a redirect whose body never ends is followed', async () => {
  await using other = await redirecting(200, '');
  const head = `HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:${other.port}/there\r\nContent-Length: 10\r\n\r\n`;
  await using there = await tcpServer((socket) => void socket.once('data', () => socket.write(head)));
  expect(await whyNot(`http://127.0.0.1:${there.port}/beat`)).toBe('it answered 200');
});

test('what goes wrong is named', async () => {
  const port = await closedPort();
  expect(await whyNot(`http://127.0.0.1:${port}/beat`)).toBe(`connect ECONNREFUSED 127.0.0.1:${port}`);
  for (const [answer, why] of [
    ['', 'socket hang up'],
    ['hello\r\n\r\n', 'Parse Error: Expected HTTP/, RTSP/ or ICE/'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nOK', 'Content-Length mismatch: expected 10 bytes, received 2 bytes'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nOK', 'The server aborted pending request'],
    ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz', 'Parse Error: Invalid character in chunk size'],
    ['HTTP/1.1 101 Other\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', 'The server aborted pending request'],
    ['HTTP/1.0 200 OK\r\n\r\nOK', 'it answered 200'],
  ] as const) {
    await using server = await tcpServer((socket) => void socket.once('data', () => socket.end(answer)));
    expect(await whyNot(`http://127.0.0.1:${server.port}/beat`), answer).toBe(why);
  }
});

test('each address of a host that refuses is named', async () => {
  const found = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
  using _ = vi.spyOn(dns, 'lookup').mockImplementation((...args: readonly unknown[]) => {
    const done = args.at(-1);
    if (typeof done === 'function') done(null, found);
  });
  const port = await closedPort();
  expect(await whyNot(`http://status.example.com:${port}/beat`)).toBe(
    `connect ECONNREFUSED 127.0.0.1:${port}, connect ECONNREFUSED 127.0.0.2:${port}`,
  );
});

test('a response that stops after its headers, or never ends, ends with the signal', async () => {
  for (const answer of ['', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n', 'HTTP/1.1 200 OK\r\n\r\nOK']) {
    const limit = new AbortController();
    await using server = await tcpServer((socket) => {
      socket.once('data', () => socket.write(answer, () => limit.abort(new Error('late'))));
    });
    expect(await whyNot(`http://127.0.0.1:${server.port}/beat`, limit.signal), answer).not.toBe('it answered 200');
  }
});

test('certificates are checked, and IPv6 is an address like others', async () => {
  await using secure = await serveHttps(await issue({ ips: ['127.0.0.1'] }), (_, response) => response.end());
  const url = `https://127.0.0.1:${secure.port}/beat`;
  expect(await whyNot(url)).toBe('self-signed certificate');
  await using six = await tcpServer(
    (socket) => void socket.once('data', () => socket.end('HTTP/1.1 204 None\r\n\r\n')),
    '::1',
  );
  expect(await whyNot(`http://[::1]:${six.port}/beat`)).toBe('it answered 204');
});
