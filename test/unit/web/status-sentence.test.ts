import { expect, test } from 'vitest';
import { builtInLanguages, englishOf } from '#languages/languages.ts';
import { statusJson } from '#web/pages/status-json.ts';
import type { StatusValue } from '#web/pages/status.ts';
import type { ShownState } from '#web/state/shown.ts';

const english = englishOf(builtInLanguages);

const valueOf = (states: readonly ShownState[]): StatusValue => ({
  title: 'Example',
  services: states.map((status, index) => {
    return { name: `s${index}`, target: `t${index}`, status, since: null, past: null, incidents: [] };
  }),
  notes: [],
  pastNotes: [],
  maintenance: [],
  groups: [],
  outages: [],
  now: 0,
});

test.each([
  { states: ['up', 'up'], status: 'up', sentence: english.say('up') },
  { states: ['up', 'maintenance'], status: 'up', sentence: english.say('inMaintenance') },
  { states: ['up', 'waiting'], status: 'up', sentence: english.say('up') },
  { states: ['up', 'unknown'], status: 'unknown', sentence: english.say('someUnknown') },
  {
    states: ['up', 'unknown', 'maintenance'],
    status: 'unknown',
    sentence: 'Nothing is known of some services; the others are working or in maintenance.',
  },
  {
    states: ['unknown', 'maintenance'],
    status: 'unknown',
    sentence: 'Nothing is known of some services; the others are working or in maintenance.',
  },
  { states: ['unknown', 'unknown'], status: 'unknown', sentence: english.say('unknown') },
  { states: ['unknown', 'partial', 'up'], status: 'partial', sentence: english.say('partial') },
  { states: ['unknown', 'down', 'up'], status: 'down', sentence: 's1 is not working.' },
] as const)('a status page of $states says what it knows, and its sign the same', ({ states, status, sentence }) => {
  expect(statusJson(valueOf(states))).toMatchObject({ status, sentence });
});
