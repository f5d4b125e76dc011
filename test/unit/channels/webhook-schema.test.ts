import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { webhookJsonSchema } from '#channels/index.ts';
import { webhookBodyOf } from '#channels/webhook-body.ts';
import { expectFixture } from '../../support/fixture.ts';
import { mailKinds } from '../../support/mail-kinds.ts';

const committed = new URL('../../../config/webhook.schema.json', import.meta.url).pathname;

test('config/webhook.schema.json is current', () => {
  const message = 'config/webhook.schema.json is out of date: run `npm run schema` and commit the result';
  expect(JSON.parse(readFileSync(committed, 'utf8')), message).toEqual(webhookJsonSchema());
});

const shown = mailKinds.filter(({ name }) => ['opened', 'resolved', 'digest'].includes(name));

test.each(shown)('the body of $name reads as its fixture', ({ name, message }) => {
  expectFixture(`webhook/${name}.json`, `${JSON.stringify(webhookBodyOf(message), null, 2)}\n`);
});
