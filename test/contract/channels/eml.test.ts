import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createEmlChannel } from '#channels/eml.ts';
import type { Delivery } from '#monitor/judge/delivery.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import type { Message } from '#monitor/notify/channel.ts';
import { expectFixture } from '../../support/fixture.ts';
import { delivery, shopDown } from '../../support/incidents.ts';
import { mailKinds } from '../../support/mail-kinds.ts';
import { compose as composeOne, template } from '../../support/mails.ts';
import { memoryLog } from '../../support/memory-log.ts';

let folder: string;
let mails: string;
let logged: ReturnType<typeof memoryLog>;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchpost-eml-'));
  mails = join(folder, 'mail');
  logged = memoryLog();
});
afterEach(() => rmSync(folder, { recursive: true }));

async function write(message: Message) {
  const channel = createEmlChannel({ folder: mails, template, hostname: 'monitor.example.com', log: logged.log });
  const receipt = await channel.send(message, 'ops@example.com', AbortSignal.timeout(50_000));
  await channel.close();
  return receipt;
}

function compose(incident: Incident, ...deliveries: readonly Delivery[]): Message {
  return composeOne(incident, deliveries);
}

const opened = delivery();

describe('without a mail server, a mail', () => {
  test.each(mailKinds)(
    'of the kind $name is a file that equals its fixture byte for byte',
    async ({ name, message }) => {
      await write(message);
      const [file = ''] = readdirSync(mails);
      expectFixture(`mail/${name}.eml`, readFileSync(join(mails, file)));
    },
  );

  test('can be read by mail programs', async () => {
    const message = compose(shopDown, opened);
    await write(message);
    const mail = await PostalMime.parse(readFileSync(join(mails, readdirSync(mails)[0]!)));
    expect(mail).toMatchObject({
      subject: message.content.subject,
      messageId: `<${message.id}@monitor.example.com>`,
      to: [{ address: 'ops@example.com' }],
    });
    expect(mail.text?.replaceAll('\r\n', '\n').trim()).toBe(template.render(message).text.trim());
  });

  test('is announced in the log and in the receipt with its path', async () => {
    const message = compose(shopDown, opened);
    const path = join(
      mails,
      `20260101T120130000Z-down-shop-connection-refused-3-of-4-nodes-${message.id.slice(0, 12)}.eml`,
    );
    expect(await write(message)).toEqual({ kind: 'delivered', response: `written to ${path}` });
    expect(logged.lines).toEqual([
      expect.objectContaining({ msg: `mail written to ${path}; configure smtp to send mails` }),
    ]);
    expect(readdirSync(mails)).toEqual([path.split('/').at(-1)]);
  });

  test('that is repeated is no second file', async () => {
    await write(compose(shopDown, opened));
    await write(compose(shopDown, { ...opened, attempts: 3 }));
    expect(readdirSync(mails)).toHaveLength(1);
  });

  test('has a safe file name whatever its subject says', async () => {
    const message = compose({ ...shopDown, target: '../../etc/päss wd\0\r\n', cause: '日本' }, opened);
    expect(await write(message)).toMatchObject({ kind: 'delivered' });
    expect(readdirSync(mails)).toEqual([
      expect.stringMatching(/^[0-9TZ]+-down-etc-pass-wd-3-of-4-nodes-[0-9a-f]{12}\.eml$/),
    ]);
    expect(readdirSync(folder)).toEqual(['mail']);
  });

  test('is tried again where it cannot be written', async () => {
    writeFileSync(mails, 'in the way');
    expect(await write(compose(shopDown, opened))).toEqual({
      kind: 'retry',
      reason: expect.stringMatching(/^cannot write .*\.eml: .*(?:EEXIST|ENOTDIR)/),
    });
  });
});
