import { expect, test } from 'vitest';
import { startValidatingResolver } from '../../support/dnssec.ts';
import { probeOnce } from '../../support/probe-once.ts';
import { needsProgram } from '../../support/programs.ts';

test('an answer that has to be authentic is up if a validating resolver says so, and down if the zone is not signed or forged', async (context) => {
  needsProgram(context, 'unbound', 'unbound');
  needsProgram(context, 'ldns-signzone', 'ldnsutils');
  await using resolver = await startValidatingResolver();
  const ask = async (host: string, expected?: object) =>
    probeOnce('dns', {
      host,
      record: 'A',
      resolver: resolver.address,
      ...(expected === undefined ? {} : { expect: expected }),
    });
  await expect.poll(async () => ask('www.plain.test'), { timeout: 20_000 }).toMatchObject({ status: 'up' });

  expect(await ask('www.signed.test', { authentic: true, A: '192.0.2.80' })).toMatchObject({
    status: 'up',
    detail: { A: ['192.0.2.80'], authentic: true },
  });
  const plain = await ask('www.plain.test', { authentic: true });
  expect(plain).toMatchObject({
    status: 'down',
    failure: { source: 'target', code: 'answer', message: expect.stringContaining('the zone is not signed') },
    detail: { A: ['192.0.2.80'], authentic: false },
  });
  expect(await ask('www.bogus.test', { authentic: true })).toMatchObject({
    status: 'down',
    failure: { code: 'name_server', message: expect.stringContaining('SERVFAIL') },
  });
  expect(await ask('www.signed.test', { authentic: true, A: '192.0.2.81' })).toMatchObject({ status: 'down' });
  // Without the expectation nothing is said of it.
  expect((await ask('www.signed.test')).detail).not.toHaveProperty('authentic');
});
