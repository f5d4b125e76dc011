import saslprepOf from '@mongodb-js/saslprep';
import { describe, expect, test } from 'vitest';
import { saslprep } from '#checks/mongodb/saslprep.ts';
import { ProtocolFault, scramSecret, startScram } from '#checks/mongodb/scram.ts';

// The examples of RFC 5802, section 5, and RFC 7677, section 3.
const examples = [
  {
    mechanism: 'SCRAM-SHA-1',
    nonce: 'fyko+d2lbbFgONRv9qkxdawL',
    serverFirst: 'r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096',
    final: 'c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=',
    serverFinal: 'v=rmF9pqV8S7suAoZWja4dJRkFsKQ=',
  },
  {
    mechanism: 'SCRAM-SHA-256',
    nonce: 'rOprNGfwEbeRWgbNEkqO',
    serverFirst: 'r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096',
    final: 'c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=',
    serverFinal: 'v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=',
  },
] as const;

describe.each(examples)('$mechanism', ({ mechanism, nonce, serverFirst, final, serverFinal }) => {
  const login = startScram(mechanism, 'user', nonce);

  test('the example of its RFC', async () => {
    expect(login.first).toBe(`n,,n=user,r=${nonce}`);
    const answer = await login.answer(serverFirst, 'pencil');
    expect(answer.final).toBe(final);
    expect(() => answer.verify(serverFinal)).not.toThrow();
  });

  test.each([
    ['another signature', serverFinal.replace(/=./, '=A')],
    ['a signature that is cut off', serverFinal.slice(0, 12)],
    ['an error', 'e=invalid-proof'],
    ['nothing', ''],
  ])('the server ends with %s', async (_, last) => {
    const answer = await login.answer(serverFirst, 'pencil');
    expect(() => answer.verify(last)).toThrow('the server did not prove that it knows the password');
  });

  test.each([
    ['a nonce of its own', `r=other${nonce},s=QSXCR+Q6sek8bf92,i=4096`, 'does not continue the nonce'],
    ['no nonce of its own', `r=${nonce},s=QSXCR+Q6sek8bf92,i=4096`, 'does not continue the nonce'],
    ['no salt', serverFirst.replace(/s=[^,]*/, 's='), 'sends no salt'],
    ['too few iterations', serverFirst.replace('i=4096', 'i=4095'), 'wants 4095 iterations'],
    ['too many iterations', serverFirst.replace('i=4096', 'i=2147483647'), 'wants 2147483647 iterations'],
    ['no iterations', serverFirst.replace(',i=4096', ''), 'wants no iterations'],
    ['an extension', `m=x,${serverFirst}`, 'wants an extension'],
    ['nothing', '', 'does not continue the nonce'],
  ])('the server answers with %s', async (_, first, message) => {
    const answering = login.answer(first, 'pencil');
    await expect(answering).rejects.toThrow(message);
    await expect(answering).rejects.toBeInstanceOf(ProtocolFault);
  });
});

test('what separates values is escaped in names, and only there', () => {
  expect(startScram('SCRAM-SHA-256', 'a=b,c=d,', 'x').first).toBe('n,,n=a=3Db=2Cc=3Dd=2C,r=x');
  // From MongoDB's authentication specification.
  expect(scramSecret('SCRAM-SHA-1', 'user', 'pencil')).toBe('1c33006ec1ffd90f9cadcbcc0e118200');
});

describe('saslprep', () => {
  // RFC 4013, section 3.
  test.each([
    ['I\u00adX', 'IX'],
    ['user', 'user'],
    ['USER', 'USER'],
    ['\u00aa', 'a'],
    ['\u2168', 'IX'],
    ['\u0007', null],
    ['a\u00a0b\u3000c', 'a b c'],
    ['\ue000', null],
    ['', ''],
  ])('%j', (written, prepared) => {
    expect(saslprep(written)).toBe(prepared);
  });

  test('every character of Unicode 3.2 becomes what the library of the official driver makes of it', () => {
    const different: string[] = [];
    // The library throws for most of them, and three quarters of the work would be stacks.
    const { stackTraceLimit } = Error;
    using _stacks = { [Symbol.dispose]: () => void (Error.stackTraceLimit = stackTraceLimit) };
    Error.stackTraceLimit = 0;
    for (let code = 0; code <= 0x10_ffff; code += 1) {
      const text = `a${String.fromCodePoint(code)}`;
      const theirs = prepared(text);
      if (theirs !== undefined && theirs !== saslprep(text)) different.push(code.toString(16));
    }
    // Its table of what is no character lacks these two (RFC 3454, table C.4).
    expect(different).toEqual(['ffffe', 'fffff']);
  });
});

// Undefined for what the library refuses for other reasons: unassigned characters, and those written from right to left.
function prepared(text: string): string | null | undefined {
  try {
    return saslprepOf(text);
  } catch (error) {
    return error instanceof Error && error.message.startsWith('Prohibited') ? null : undefined;
  }
}
