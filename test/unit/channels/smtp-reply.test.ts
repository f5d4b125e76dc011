import { expect, test } from 'vitest';
import { receiptOf } from '#channels/smtp-reply.ts';

const failed = { signal: new AbortController().signal, server: 'mail.example.com', isHandedOver: false };
const reply = (responseCode: number, command: string) =>
  Object.assign(new Error(`${responseCode} no`), { responseCode, command });

test.each([503, 530, 534, 535, 538])(
  '%d to MAIL FROM is about the login or the session, which people repair',
  (code) => {
    expect(receiptOf(reply(code, 'MAIL FROM'), failed)).toMatchObject({ kind: 'retry' });
  },
);

test.each([550, 552, 554])('%d is final about the mail, and not about the session', (code) => {
  for (const command of ['MAIL FROM', 'RCPT TO', 'DATA'])
    expect(receiptOf(reply(code, command), failed)).toMatchObject({ kind: 'rejected' });
  expect(receiptOf(reply(code, 'EHLO'), failed)).toMatchObject({ kind: 'retry' });
});
