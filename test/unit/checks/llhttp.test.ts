import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadResponseParser, type ParsedHead } from '#checks/http/llhttp.ts';

const makeParser = await loadResponseParser();

function read(pieces: readonly Buffer[], limit = 16_384) {
  const heads: ParsedHead[] = [];
  const body: Buffer[] = [];
  let complete = false;
  using parser = makeParser(
    {
      onHead(head) {
        heads.push(head);
        return 'body';
      },
      onBody: (bytes) => void body.push(Buffer.from(bytes)),
      onComplete: () => (complete = (heads.at(-1)?.status ?? 0) >= 200),
    },
    limit,
  );
  for (const piece of pieces) parser.read(piece);
  return { heads, body: Buffer.concat(body).toString(), complete };
}

const answer = Buffer.from(
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' +
    'HTTP/1.1 200 Fine indeed\r\nServer: x\r\nX-Empty:\r\nX-Part: one\r\nX-Part: two\r\n' +
    'X-Long: one\r\n  two \r\n\tthree\r\n \r\nX-Late:\r\n four\r\nTransfer-Encoding: chunked\r\n\r\n' +
    '5\r\nhello\r\n6;ext=1\r\n world\r\n0\r\nTrailer: t\r\n\r\nHTTP/1.1 500 Not read\r\n\r\n',
  'latin1',
);

test('an answer is read the same, however it comes in pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: answer.length }), { maxLength: 30 }), (cuts) => {
      const edges = [0, ...cuts.toSorted((a, b) => a - b), answer.length];
      const pieces = edges.slice(1).map((end, index) => answer.subarray(edges[index], end));
      const { heads, body, complete } = read(pieces);
      expect(heads).toMatchObject([{ status: 103 }, { status: 200, reason: 'Fine indeed', minor: 1 }]);
      expect(heads[1]?.raw).toEqual([
        'Server',
        'x',
        'X-Empty',
        '',
        'X-Part',
        'one',
        'X-Part',
        'two',
        'X-Long',
        'one two three',
        'X-Late',
        'four',
        'Transfer-Encoding',
        'chunked',
      ]);
      expect({ body, complete }).toEqual({ body: 'hello world', complete: true });
    }),
  );
});

test('a body of several pieces of the memory that the parser shares comes whole', () => {
  const text = 'x'.repeat(200_000);
  expect(read([Buffer.from(`HTTP/1.0 200 OK\r\nContent-Length: 200000\r\n\r\n${text}`)])).toMatchObject({
    body: text,
    complete: true,
    heads: [{ minor: 0 }],
  });
});

test.each([
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n', 'HPE_UNEXPECTED_CONTENT_LENGTH'],
  ['a length that is none', 'HTTP/1.1 200 OK\r\nContent-Length: 1a\r\n\r\n', 'HPE_INVALID_CONTENT_LENGTH'],
  ['a version that is none', 'HTTP/7.1 200 OK\r\n\r\n', 'HPE_INVALID_VERSION'],
  ['a null in a header', 'HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
  ['an escape in a header', 'HTTP/1.1 200 OK\r\nA: b\x1bc\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
  ['a header without a line end', 'HTTP/1.1 200 OK\r\nA: b\nC: d\r\n\r\n', 'HPE_'],
  ['a header name with a space', 'HTTP/1.1 200 OK\r\nA b: c\r\n\r\n', 'HPE_INVALID_HEADER_TOKEN'],
  ['a line end without its first half', 'HTTP/1.1 200 OK\nA: b\n\n', 'HPE_'],
  ['more headers than may be', `HTTP/1.1 200 OK\r\nA: ${'b'.repeat(20_000)}\r\n\r\n`, 'HPE_HEADER_OVERFLOW'],
])('%s is refused', (_, text, code) => {
  expect(() => read([Buffer.from(text)])).toThrow(
    expect.objectContaining({ name: 'ParseError', code: expect.stringContaining(code) }),
  );
});
