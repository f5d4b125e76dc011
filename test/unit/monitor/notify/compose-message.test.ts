import { assert, constantFrom, property, string } from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Incident } from '#monitor/judge/incident.ts';
import { latency } from '#monitor/judge/rules/latency.ts';
import { composeMessage, messageId } from '#monitor/notify/compose-message.ts';
import type { ContentOptions } from '#monitor/notify/content.ts';
import { expectFixture } from '../../../support/fixture.ts';
import { delivery, refused, shopBack, shopDown, up } from '../../../support/incidents.ts';
import { mailKinds } from '../../../support/mail-kinds.ts';
import { compose as composeOne, part, template, utc } from '../../../support/mails.ts';

const opened = delivery();
const resolved = delivery({ id: 2, kind: 'resolved', createdAt: Date.parse('2026-01-01T12:09:42Z') });

function compose(incident: Incident, deliveries: readonly (typeof opened)[], options: ContentOptions = utc) {
  const message = composeOne(incident, deliveries, options);
  return { ...part(incident, deliveries), message: { ...message, ...template.render(message) } };
}

describe('a message', () => {
  test.each(mailKinds)('of the kind $name reads as its fixture, in text and in HTML', ({ name, message }) => {
    const { subject, text, html } = template.render(message);
    expectFixture(`mail/${name}.txt`, `${subject}\n\n${text}`);
    expectFixture(`mail/${name}.html`, html);
  });

  test('tells times in the zone it is given, and links to the report where there is one', () => {
    const options = {
      zone: 'Europe/Berlin',
      linkTo: ({ target }: Incident) => `https://status.example.com/${target}?a=1&b=2`,
    };
    const { message } = compose(shopBack, [resolved], options);
    expect(message.text).toContain('2026-01-01 13:01:00 +01:00 to 2026-01-01 13:09:12 +01:00 (8m 12s)');
    expect(message.text).toContain('\nhttps://status.example.com/shop?a=1&b=2\n');
    expect(message.html).toContain('href="https://status.example.com/shop?a=1&amp;b=2"');
  });

  test('names both days where an outage went over midnight', () => {
    const endedAt = Date.parse('2026-01-02T06:30:00Z');
    const { message } = compose({ ...shopBack, endedAt }, [opened, resolved]);
    expect(message.subject).toContain('was down 2026-01-01 12:01 to 2026-01-02 06:30 UTC');
  });

  test.each([[[opened]], [[opened, resolved]]])('states what its hub says of itself, in every kind', (deliveries) => {
    const hubRemark = () => 'Hub a leads alone at the moment: another hub may send the same.';
    const { message } = compose(shopBack, deliveries, { ...utc, hubRemark });
    expect(message.content.remarks.at(-1)).toBe(hubRemark());
    expect(message.text).toContain(hubRemark());
    expect(message.html).toContain(hubRemark());
    expect(compose(shopBack, deliveries, { ...utc, hubRemark: () => null }).message.text).not.toContain('alone');
  });

  test('leaves the count of nodes out where there is one node only', () => {
    const { message } = compose({ ...shopDown, votes: [refused] }, [opened]);
    expect(message.subject).toBe('[DOWN] shop: connection refused');
  });

  test('shows forty nodes and counts the rest, those that are down first', () => {
    const votes = [...Array.from({ length: 45 }, () => up), ...Array.from({ length: 3 }, () => refused)];
    const { message } = compose({ ...shopDown, votes }, [opened]);
    expect(message.text).toContain('  and 8 more: 8 up\n');
    expect(message.text.indexOf('  de1')).toBeLessThan(message.text.indexOf('  us1'));
  });

  test('keeps the count of nodes in the subject however long the cause is', () => {
    const { message } = compose({ ...shopDown, cause: 'x'.repeat(200) }, [opened]);
    expect(message.subject).toHaveLength(140);
    expect(message.subject).toMatch(/x… \(3 of 4 nodes\)$/);
  });

  test('keeps what strangers wrote on its line and out of the markup', () => {
    const evil = 'a\r\nBcc: all@example.com\r\n\r\n<script>alert(1)</script>\u202E&"';
    const incident = { ...shopBack, target: evil, cause: evil, votes: [{ ...refused, message: evil, place: evil }] };
    const { message } = compose(incident, [{ ...opened, lastError: evil }, resolved]);
    expect(message.subject).not.toMatch(/[\r\n\u202E]/);
    expect(message.text).not.toMatch(/^Bcc:/m);
    expect(message.html).not.toMatch(/<script|\u202E/);
    expect(message.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt;');
  });

  test('has one line as its subject, at most 140 characters long, whatever the incident says', () => {
    const written = string({
      unit: constantFrom('a', ' ', 'é', '日', '\r', '\n', '\0', '\u2028', '\u202E'),
      maxLength: 300,
    });
    assert(
      property(written, written, (target, cause) => {
        const { subject } = compose({ ...shopDown, target, cause }, [opened]).message;
        expect(subject).toMatch(/^\[DOWN\] [^\r\n]*$/);
        expect(subject.length).toBeLessThanOrEqual(140);
      }),
    );
  });
});

describe('what a message settles', () => {
  test('is the beginning alone while the incident lasts', () => {
    expect(compose(shopDown, [opened])).toMatchObject({ sent: opened, merged: [], message: { kind: 'opened' } });
  });

  test('is the end alone where the beginning was sent before', () => {
    expect(compose(shopBack, [resolved])).toMatchObject({ sent: resolved, merged: [], message: { kind: 'resolved' } });
  });

  test('is both where the incident was over before its beginning could be sent', () => {
    const composed = compose(shopBack, [opened, resolved]);
    expect(composed).toMatchObject({ sent: opened, merged: [resolved], message: { kind: 'late' } });
    expect(composed.message.at).toBe(resolved.createdAt);
  });

  test('is both in whatever order they come', () => {
    expect(compose(shopBack, [resolved, opened])).toMatchObject({ sent: opened, merged: [resolved] });
  });
});

describe('the id of a message', () => {
  test('is the same for a repeat, and changes with incident, kind and recipient', () => {
    const ids = [
      messageId(opened, 'opened'),
      messageId({ ...opened, incidentId: 'other' }, 'opened'),
      messageId(opened, 'resolved'),
      messageId(opened, 'late'),
      messageId({ ...opened, recipient: 'boss@example.com' }, 'opened'),
    ];
    expect(new Set(ids).size).toBe(5);
    expect(messageId({ ...opened, id: 99, attempts: 7, lastError: 'x' }, 'opened')).toBe(ids[0]);
    expect(ids[0]).toMatch(/^[0-9a-f]{32}$/);
  });

  test('of the beginning is the root that later messages refer to', () => {
    const root = compose(shopDown, [opened]).message;
    expect(root.references).toEqual([]);
    expect(compose(shopBack, [resolved]).message.references).toEqual([root.id]);
    expect(compose(shopBack, [opened, resolved]).message.references).toEqual([root.id]);
  });
});

test('two installations that watch the same name have ids of their own', () => {
  const ids = ['', 'a', 'b'].map((identity) => messageId(delivery({ incidentId: 'shop/down/1' }), 'opened', identity));
  expect(new Set(ids).size).toBe(3);
});

test('a target that went down three times while its mails waited is called flapping, with its count', () => {
  const parts = [1, 2, 3].map((number) => {
    const incident = { ...shopBack, id: `shop/down/${number}` };
    return part(incident, [delivery({ id: number, kind: 'resolved', incidentId: incident.id })]);
  });
  const [first, ...rest] = parts;
  const { content } = composeMessage([first!, ...rest], utc);
  expect(content.headline).toContain('shop is flapping (3 times)');
  expect(content.subject).toContain('flapping');
});

test('a reminder shows first who sees what now, and then who saw what when it went down', () => {
  const seenNow = shopDown.votes.map((vote) => ({ ...vote, status: 'unknown' as const }));
  const reminder = delivery({ id: 3, kind: 'reminder', number: 2 });
  const { content } = composeMessage([part(shopDown, [reminder])], { ...utc, seenNow: () => seenNow });
  expect(content.tables.map(({ title }) => title)).toEqual(['Who sees what now', 'Who saw what when it went down']);
  expect(new Set(content.tables[0]?.rows.map((row) => row[1]?.text))).toEqual(new Set(['unknown']));
});

test('what is slow did not see anything down, and what is told late says why', () => {
  const slow = {
    ...shopDown,
    wording: latency.wording,
    lateReason: 'it was held back: maintenance until 04:00',
    labels: { team: 'web' },
  };
  const { content } = composeMessage([part(slow, [delivery({ lastError: '451 later', attempts: 1 })])], utc);
  expect(content.tables[0]?.rows.map((row) => row[1]?.text)).toEqual(['slow', 'slow', 'slow', 'ok']);
  expect(content.remarks).toEqual([
    'This notification is late, for it was held back: maintenance until 04:00.',
    'This notification is late because it could not be delivered: 451 later.',
  ]);
  expect(content.facts).toContainEqual(['Labels', 'team=web']);
  expect(content.footer).toContain(`watchpost ack ${slow.id}`);
});
