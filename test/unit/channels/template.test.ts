import { describe, expect, test } from 'vitest';
import { createMailTemplate } from '#channels/template.ts';
import { mailKinds } from '../../support/mail-kinds.ts';

const message = mailKinds[0]!.message;
const written = (text: string, changes: object = {}) =>
  createMailTemplate({ path: 'own.liquid', text }).render({ ...message, content: { ...message.content, ...changes } });

describe('a template of the operator', () => {
  test('is escaped in HTML unless it says otherwise, and never in text', () => {
    const { subject, text, html } = written('{{ headline }} {{ headline | raw }}', { headline: '<b>&"' });
    expect({ subject, text, html }).toEqual({
      subject: '<b>&" <b>&"',
      text: '<b>&" <b>&"\n',
      html: '&lt;b&gt;&amp;&#34; <b>&"\n',
    });
  });

  test('has everything that an incident says', () => {
    const all =
      '{% for one in incidents %}{{ one.target }} {{ one.severity }} {{ one.votes[0].node }}{% endfor %} {{ id }} {{ at }} {{ kind }}';
    expect(written(all).text).toBe(`shop critical de1 ${message.id} 2026-01-01T12:01:30.000Z opened\n`);
  });

  test.each([
    { name: 'a tag that never ends', text: '{% if link %}', says: /not closed/ },
    { name: 'a filter that there is none of', text: '{{ headline | shout }}', says: /undefined filter: shout/ },
    { name: 'a variable that there is none of', text: '{{ headlin }}', says: /undefined variable: headlin/ },
    { name: 'a file to include', text: '{% include "/etc/passwd" %}', says: /ENOENT/ },
    { name: 'the way out to the program', text: '{{ headline.constructor }}', says: /undefined variable/ },
    { name: 'a loop without an end', text: '{% for a in (1..100000000) %}x{% endfor %}', says: /limit exceeded/ },
  ])('with $name is refused before it is used', ({ text, says }) => {
    expect(() => createMailTemplate({ path: 'own.liquid', text })).toThrow(/^own\.liquid: cannot be used for mails: /);
    expect(() => createMailTemplate({ path: 'own.liquid', text })).toThrow(says);
  });

  test('keeps its subject on one line', () => {
    expect(written('a\r\nBcc: x\n{{ headline }}').subject).not.toMatch(/[\r\n]/);
  });
});
