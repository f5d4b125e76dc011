import { expect, test } from 'vitest';
import { messageOf, systemCode, WatchpostError } from '#kernel/errors.ts';

test('an error of ours has a code, an exit code and its cause', () => {
  const cause = new Error('EADDRINUSE');
  const error = new WatchpostError('listen_failed', 'cannot listen', { cause });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({
    name: 'WatchpostError',
    code: 'listen_failed',
    exitCode: 1,
    message: 'cannot listen',
    cause,
  });
});

test.each(['config_invalid', 'usage'] as const)('%s says that the input is wrong', (code) => {
  expect(new WatchpostError(code, '').exitCode).toBe(2);
});

test.each([
  { name: 'an error', thrown: new Error('broken'), message: 'broken' },
  { name: 'an error of several lines', thrown: new Error(' a\n  b\t'), message: 'a b' },
  { name: 'an error without a message', thrown: new TypeError(), message: 'TypeError' },
  { name: 'a text', thrown: 'broken', message: 'broken' },
  { name: 'nothing', thrown: undefined, message: 'undefined' },
])('the message of $name is one line', ({ thrown, message }) => {
  expect(messageOf(thrown)).toBe(message);
});

test.each([
  {
    name: 'a system error has its code',
    thrown: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }),
    code: 'ECONNREFUSED',
  },
  { name: 'an error without a code has none', thrown: new Error('x'), code: null },
  { name: 'a code that is no text is none', thrown: Object.assign(new Error('x'), { code: 7 }), code: null },
  { name: 'what is no error has none', thrown: { code: 'ECONNREFUSED' }, code: null },
])('$name', ({ thrown, code }) => {
  expect(systemCode(thrown)).toBe(code);
});

test('what Node advises those who start it is left out', () => {
  const said =
    'unable to verify the first certificate; if the root CA is installed locally, try running Node.js with --use-system-ca';
  expect(messageOf(new Error(said))).toBe('unable to verify the first certificate');
});
