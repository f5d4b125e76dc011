import { globSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { email } from '#channels/email.ts';
import { channelTypes } from '#channels/index.ts';
import { MailAddress, Smtp } from '#channels/smtp-server.ts';
import { renewalTimes } from '#monitor/notify/channel.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { memoryLog } from '../../support/memory-log.ts';

describe('THE list of channels', () => {
  test('has a name for each, once', () => {
    expect(channelTypes.map(({ name }) => name)).toEqual([...new Set(channelTypes.map(({ name }) => name))]);
  });

  test('holds every channel type that there is a file of', () => {
    const folder = new URL('../../../src/channels/', import.meta.url).pathname;
    const declaring = globSync('*.ts', { cwd: folder }).filter((file) =>
      /^export const \w+: ChannelType</m.test(readFileSync(`${folder}${file}`, 'utf8')),
    );
    expect(declaring.toSorted()).toEqual(channelTypes.map(({ name }) => `${name}.ts`).toSorted());
  });

  test.each(channelTypes.map((type) => ({ name: type.name, type })))(
    'opens $name under its own name',
    async ({ type }) => {
      for (const smtp of [undefined, { url: 'smtp://127.0.0.1', from: 'watchpost@example.com' }]) {
        const written = new Map<string, unknown>([['smtp', smtp]]);
        const sections = Object.entries(type.sections).map(
          ([key, schema]) => [key, { value: schema.parse(written.get(key)), files: {} }] as const,
        );
        const channel = type.open(environment(), () => [], Object.fromEntries(sections));
        expect(channel.name).toBe(type.name);
        await channel.close();
      }
    },
  );
});

function environment(log = memoryLog().log) {
  return { clock: new FakeClock(), log, folder: '/data', hostname: 'localhost', renewal: renewalTimes, devices: null };
}

test('says where mails go while there is no mail server', () => {
  const logged = memoryLog();
  const nothing = { value: undefined, files: {} };
  email.open(environment(logged.log), () => [], { smtp: nothing, templates: { value: {}, files: {} } });
  expect(logged.lines.map(({ msg }) => msg)).toEqual(['smtp is not configured; mails are written to /data/mail']);
});

describe('the description of a mail server', () => {
  const from = 'Watchpost <alerts@example.com>';

  test.each([
    { url: 'smtps://mail.example.com', from },
    { url: 'smtp://127.0.0.1:25', from: 'root@localhost' },
    { url: 'smtp://[::1]:2525', from, username: 'a', password: 'b', require_tls: true },
  ])('may be $url', (written) => {
    expect(JSON.parse(JSON.stringify(Smtp.parse(written)))).toEqual({
      require_tls: false,
      ...written,
      ...('password' in written ? { password: '[secret]' } : {}),
    });
  });

  test.each([
    { name: 'another scheme', change: { url: 'https://mail.example.com' }, says: 'expected smtp://host' },
    { name: 'no URL', change: { url: 'mail.example.com' }, says: 'expected smtp://host' },
    { name: 'credentials in the URL', change: { url: 'smtp://a:b@mail.example.com' }, says: 'have keys of their own' },
    { name: 'a path in the URL', change: { url: 'smtp://mail.example.com/inbox' }, says: 'expected smtp://host' },
    { name: 'a password without a name', change: { password: 'x' }, says: 'a password needs one' },
    { name: 'a sender that is none', change: { from: 'Watchpost' }, says: 'expected a sender' },
    { name: 'a sender of two lines', change: { from: 'a\r\nBcc: x <a@example.com>' }, says: 'expected a sender' },
    { name: 'an unknown key', change: { user: 'x' }, says: 'Unrecognized key' },
  ])('may not have $name', ({ change, says }) => {
    const { error } = Smtp.safeParse({ url: 'smtp://mail.example.com', from, ...change });
    expect(error?.message).toContain(says);
  });
});

test.each(['ops@example.com', 'root@localhost', 'jörg@bücher.example', "o'neil+x@example.com"])(
  '%s is a mail address',
  (text) => expect(MailAddress.safeParse(text).success).toBe(true),
);

test.each([
  '',
  'ops',
  '@example.com',
  'a b@example.com',
  'a@b@c',
  '<a@example.com>',
  'a@example.com\r\nRCPT',
  'a@x,b@x',
])('%j is no mail address', (text) => expect(MailAddress.safeParse(text).success).toBe(false));
