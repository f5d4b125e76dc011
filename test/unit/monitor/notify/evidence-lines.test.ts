import { expect, test } from 'vitest';
import { webhookBodyOf } from '#channels/webhook-body.ts';
import type { Incident } from '#monitor/judge/incident.ts';
import { composeMessage } from '#monitor/notify/compose-message.ts';
import { contentOf } from '#monitor/notify/content.ts';
import { delivery, shopBack, shopDown } from '../../../support/incidents.ts';
import { part, utc } from '../../../support/mails.ts';

const lines = ['Packets from de1 end at 198.51.100.9.', 'The resolver\nanswers.', 'Three.', 'Four.'];
const options = { ...utc, evidenceOf: () => lines };
const shown = ['Packets from de1 end at 198.51.100.9.', 'The resolver answers.', 'Three.'];
const opened = delivery({ kind: 'opened' });

test('three lines of evidence stand before all other remarks, also in the body of a webhook', () => {
  const message = composeMessage([part(shopDown, [opened])], options);
  expect(message.content.remarks.slice(0, 3)).toEqual(shown);
  expect(message.content.evidence).toEqual(shown);
  expect(webhookBodyOf(message)).toMatchObject({ evidence: shown });
  expect(webhookBodyOf(message).text).toContain('end at 198.51.100.9.');
});

test('without evidence a message says nothing of it', () => {
  const message = composeMessage([part(shopDown, [opened])], { ...utc, evidenceOf: () => [] });
  expect(message.content).toEqual(contentOf(part(shopDown, [opened]), utc));
  expect(webhookBodyOf(message)).not.toHaveProperty('evidence');
});

test('a resolution says that it was so when it failed', () => {
  const resolved = delivery({ kind: 'resolved', createdAt: shopBack.endedAt ?? 0 });
  const { remarks } = contentOf(part(shopBack, [resolved]), options);
  expect(remarks.slice(0, 3)).toEqual(shown.map((line) => `When it failed: ${line}`));
});

test('of several incidents each is named with its first line, those that are alike once', () => {
  const other = { ...shopDown, id: 'blog/down/1', target: 'blog' };
  const parts = [part(shopDown, [opened]), part(other, [{ ...opened, incidentId: other.id }])] as const;
  const { content } = composeMessage([...parts], options);
  expect(content.remarks[0]).toBe('shop, blog: Packets from de1 end at 198.51.100.9.');
  expect(content.evidence).toHaveLength(1);
});

test('what is read for a message is told whether the incident is one of many', () => {
  const asked: [string, boolean][] = [];
  const evidenceOf = ({ target }: Incident, isOneOfMany: boolean) => {
    asked.push([target, isOneOfMany]);
    return [];
  };
  const other = { ...shopDown, id: 'blog/down/1', target: 'blog' };
  composeMessage([part(shopDown, [opened])], { ...utc, evidenceOf });
  composeMessage([part(shopDown, [opened]), part(other, [{ ...opened, incidentId: other.id }])], {
    ...utc,
    evidenceOf,
  });
  expect(asked).toEqual([
    ['shop', false],
    ['shop', true],
    ['blog', true],
  ]);
});

test('of many incidents those without evidence are left out, and what most have in common comes first', () => {
  const parts = Array.from({ length: 30 }, (_, index) => {
    const one = { ...shopDown, id: `t${index}/down/1`, target: `t${index}` };
    return part(one, [{ ...opened, incidentId: one.id }]);
  });
  const [first, ...rest] = parts;
  if (first === undefined) throw new Error('there is no incident');
  const linesOf: Record<string, readonly string[]> = { t3: ['Alone.'] };
  for (let index = 10; index < 20; index += 1) linesOf[`t${index}`] = ['Common.'];
  const { content } = composeMessage([first, ...rest], {
    ...utc,
    evidenceOf: ({ target }) => linesOf[target] ?? [],
  });
  expect(content.evidence).toEqual(['t10, t11, t12, t13, t14 and 5 more: Common.', 't3: Alone.']);
});
