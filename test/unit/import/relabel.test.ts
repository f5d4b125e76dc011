import { expect, test } from 'vitest';
import { relabel, RelabelConfig } from '#import/blackbox/relabel.ts';

const labels = new Map([
  ['__address__', 'shop.example.com:443'],
  ['__meta_zone', 'vienna'],
  ['job', 'Web'],
]);

test.each([
  { rule: { target_label: 'instance', replacement: 'x' }, after: { instance: 'x' } },
  {
    rule: { source_labels: ['__address__'], regex: '(.*):(\\d+)', target_label: 'port', replacement: '${2}' },
    after: { port: '443' },
  },
  { rule: { source_labels: ['__address__'], regex: 'shop', target_label: 'port' }, after: {} },
  {
    rule: { source_labels: ['job', '__meta_zone'], separator: '/', target_label: 'place' },
    after: { place: 'Web/vienna' },
  },
  { rule: { source_labels: ['job'], action: 'lowercase', target_label: 'job' }, after: { job: 'web' } },
  { rule: { source_labels: ['job'], action: 'uppercase', target_label: 'job' }, after: { job: 'WEB' } },
  { rule: { regex: '__meta_(.+)', action: 'labelmap' }, after: { zone: 'vienna' } },
  {
    rule: { source_labels: ['__address__'], action: 'hashmod', modulus: 4, target_label: 'shard' },
    after: { shard: '2' },
  },
  { rule: { target_label: 'job', replacement: '' }, after: { job: undefined } },
])('$rule.action $rule.regex $rule.source_labels gives $after', ({ rule, after }) => {
  const expected = Object.entries({ ...Object.fromEntries(labels), ...after }).filter(
    ([, value]) => value !== undefined,
  );
  expect(Object.fromEntries(relabel(labels, [RelabelConfig.parse(rule)]) ?? [])).toEqual(Object.fromEntries(expected));
});

test.each([
  { rule: { source_labels: ['job'], regex: 'Web', action: 'keep' }, stays: true },
  { rule: { source_labels: ['job'], regex: 'We', action: 'keep' }, stays: false },
  { rule: { source_labels: ['job'], regex: 'Web|Api', action: 'drop' }, stays: false },
  { rule: { source_labels: ['job'], regex: 'Api', action: 'drop' }, stays: true },
  { rule: { source_labels: ['__meta_zone'], action: 'keepequal', target_label: 'job' }, stays: false },
  { rule: { source_labels: ['__meta_zone'], action: 'dropequal', target_label: 'job' }, stays: true },
])('$rule.action with $rule.regex keeps it: $stays', ({ rule, stays }) => {
  expect(relabel(labels, [RelabelConfig.parse(rule)]) !== null).toBe(stays);
});

test('labels are dropped and kept by their names', () => {
  const drop = RelabelConfig.parse({ action: 'labeldrop', regex: '__meta_.*' });
  expect([...(relabel(labels, [drop]) ?? []).keys()]).toEqual(['__address__', 'job']);
  const keep = RelabelConfig.parse({ action: 'labelkeep', regex: 'job' });
  expect([...(relabel(labels, [keep]) ?? []).keys()]).toEqual(['job']);
});
