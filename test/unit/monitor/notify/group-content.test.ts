import { describe, expect, test } from 'vitest';
import type { Incident } from '#monitor/judge/incident.ts';
import { composeMessage } from '#monitor/notify/compose-message.ts';
import type { MessagePart } from '#monitor/notify/message-part.ts';
import { delivery, shopDown } from '../../../support/incidents.ts';
import { part, template, utc } from '../../../support/mails.ts';

const down = (target: string, changes: Partial<Incident> = {}): Incident => ({
  ...shopDown,
  id: `${target}/down/1`,
  target,
  subject: `tcp ${target}.example.com:443`,
  ...changes,
});

function contentOf(...incidents: readonly Incident[]) {
  const parts = incidents.map((one, index) => part(one, [delivery({ id: index + 1, incidentId: one.id })], null));
  return composeMessage(parts as [MessagePart, ...MessagePart[]], utc).content;
}

describe('the first line of a message about several targets', () => {
  const everywhere = shopDown.votes.map((vote) => ({ ...vote, status: 'down' as const }));

  test.each([
    {
      name: 'a label',
      changes: [{ labels: { dc: 'fra', role: 'web' } }, { labels: { dc: 'fra' }, cause: 'timeout' }],
      says: '2 targets are down, all with dc=fra',
    },
    { name: 'a cause', changes: [{}, {}], says: '2 targets are down: connection refused' },
    {
      name: 'a host',
      changes: [{ subject: 'tcp 192.0.2.7:80' }, { subject: 'http https://192.0.2.7/', cause: 'timeout' }],
      says: '2 targets are down, all on 192.0.2.7',
    },
    { name: 'nothing', changes: [{}, { cause: 'timeout' }], says: '2 targets are down' },
  ])('says what they have in common: $name', ({ changes, says }) => {
    const [a = {}, b = {}] = changes;
    expect(contentOf(down('a', { votes: everywhere, ...a }), down('b', { votes: everywhere, ...b })).headline).toBe(
      says,
    );
  });

  test('names the only nodes that see it', () => {
    const only = shopDown.votes.map((vote, index) => ({ ...vote, status: index === 0 ? 'down' : 'up' }) as const);
    const { headline } = contentOf(down('a', { votes: only }), down('b', { votes: only, cause: 'timeout' }));
    expect(headline).toBe(`2 targets are down, all seen by ${only[0]?.node} only`);
  });
});

test('a message about several targets says which of them are late, and why', () => {
  const lateReason = 'it was held back: maintenance until 2026-01-01 12:00:00 UTC';
  const { remarks } = contentOf(down('a'), down('b', { lateReason: lateReason }));
  expect(remarks).toEqual([`Late for 1 of 2: ${lateReason}.`]);
});

test('what is slow or unknown is not in the red of what is down', () => {
  const wordingOf = (word: string) => ({ ...shopDown.wording, word, is: `is ${word.toLowerCase()}` });
  const one = (word: string) => contentOf(down('a', { wording: wordingOf(word) }));
  expect(['DOWN', 'SLOW', 'UNKNOWN'].map((word) => one(word).tone)).toEqual(['bad', 'unsure', 'unsure']);
  const { tables, tone } = contentOf(down('a'), down('b', { wording: wordingOf('SLOW') }));
  expect(tone).toBe('bad');
  expect(tables[0]?.rows.map((row) => row[1]?.tone)).toEqual(['bad', 'unsure']);
});

test('the end of an incident has no length if the clock was set back meanwhile', () => {
  const over = { ...shopDown, endedAt: shopDown.startedAt - 60_000, closing: 'recovered' as const };
  const ended = delivery({ id: 2, kind: 'resolved', createdAt: shopDown.startedAt });
  const { content } = composeMessage([part(over, [ended], 'root')], utc);
  expect(content.headline).toBe('shop is up again');
  expect(JSON.stringify(content)).not.toContain('0ms');
});

test('a message about a job begins with the fact, in the zone of its recipient, and names no node', () => {
  const vote = {
    ...shopDown.votes[0]!,
    place: '',
    seconds: null,
    address: null,
    source: 'target',
    status: 'down',
  } as const;
  const message = 'late: no ping since 2026-01-01 11:58:00 UTC (every 30s)';
  const votes = [{ ...vote, node: 'zz0', code: 'late', message } as const];
  const job = down('backup', { cause: message, votes, subject: 'heartbeat db1' });
  const told = composeMessage([part(job, [delivery({ incidentId: job.id })], null)], { ...utc, zone: 'Europe/Berlin' });
  expect(told.content.headline).toBe('backup is late: no ping since 12:58 (every 30s)');
  expect(told.content.subject).toBe('[DOWN] backup: late: no ping since 12:58 (every 30s)');
  expect(JSON.stringify([told.content, template.render(told)])).not.toContain('zz0');
  expect(told.content.tables).toEqual([]);
  const anotherDay = down('backup', { ...job, cause: message.replace('11:58', '22:30').replace('01-01', '12-30') });
  const later = composeMessage([part(anotherDay, [delivery({ incidentId: job.id })], null)], utc);
  expect(later.content.headline).toContain('no ping since 2026-12-30 22:30 (');
});

test('an incident whose rule is gone is closed as such, not as that of a target that is no longer monitored', () => {
  const closed = delivery({ id: 2, kind: 'closed' });
  const over = { ...shopDown, endedAt: shopDown.startedAt + 60_000, closing: 'rule_removed' as const };
  const { content } = composeMessage([part(over, [closed], 'root')], utc);
  expect(content.headline).toBe('shop is no longer monitored by the rule "down"; it was down until then, for 1m');
  const gone = { ...over, closing: 'unwatched' as const };
  expect(composeMessage([part(gone, [closed], 'root')], utc).content.subject).toMatch(
    /^\[CLOSED\] shop: no longer monitored; /,
  );
});
