import { writeFileSync } from 'node:fs';
import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { clarityOf, judge, type Outage } from '../../bench/days/judge.ts';
import { differencesOf, isWrong, verdictOf, worstOf } from '../../bench/days/record.ts';
import { resultOf, type SystemResult } from '../../bench/days/result.ts';
import { downtimesOfLogs } from '../../bench/days/systems/hard-states.ts';
import { icinga } from '../../bench/days/systems/icinga.ts';
import { monit } from '../../bench/days/systems/monit.ts';
import { nagios } from '../../bench/days/systems/nagios.ts';
import { prometheus } from '../../bench/days/systems/prometheus.ts';
import { watchpost } from '../../bench/days/systems/watchpost.ts';
import { cellOf, dayTable, historyCellOf, sumTable } from '../../bench/days/table.ts';

const minute = 60_000;
const outage = (target: string, from: number, to: number, kind: Outage['kind'] = 'required'): Outage => ({
  target,
  from,
  to,
  kind,
});
const began = (at: number, ...targets: string[]) => ({ at, began: targets, ended: [] });
const ended = (at: number, ...targets: string[]) => ({ at, began: [], ended: targets });

describe('mails against the truth', () => {
  test('a beginning and an end that were mailed count with their delay', () => {
    const verdict = judge([outage('a', 0, minute)], [began(10_000, 'a'), ended(minute + 20_000, 'a')]);
    expect(verdict).toEqual({ due: 2, came: 2, late: [10, 20], repeated: 0, falseMails: 0, falseTargets: 0 });
  });

  test('an outage without a mail, and one without its beginning or its end, are missing', () => {
    expect(judge([outage('a', 0, minute)], [])).toMatchObject({ due: 2, came: 0 });
    expect(judge([outage('a', 0, minute)], [began(10_000, 'a')])).toMatchObject({ due: 2, came: 1 });
    expect(judge([outage('a', 0, minute)], [ended(minute + 9_000, 'a')])).toMatchObject({ due: 2, came: 1, late: [9] });
  });

  test('a mail that was delayed until after the end counts for both', () => {
    const mail = { at: 5 * minute, began: ['a'], ended: ['a'] };
    expect(judge([outage('a', 0, minute)], [mail])).toMatchObject({ due: 2, came: 2, late: [300, 240] });
  });

  test('a late mail about the end that names the beginning once more is neither false nor a repetition', () => {
    const mail = { at: 5 * minute, began: ['a'], ended: ['a'] };
    const verdict = judge([outage('a', 0, minute)], [began(10_000, 'a'), mail]);
    expect(verdict).toMatchObject({ due: 2, came: 2, repeated: 0, falseMails: 0 });
    expect(judge([], [mail])).toMatchObject({ falseMails: 1, falseTargets: 1 });
  });

  test('a mail without news is a repetition, one with some news is not', () => {
    const outages = [outage('a', 0, minute), outage('b', 20_000, minute)];
    const mails = [began(10_000, 'a'), began(15_000, 'a'), began(30_000, 'a', 'b')];
    expect(judge(outages, mails)).toMatchObject({ came: 2, repeated: 1, falseMails: 0 });
  });

  test('a beginning without an outage is false once, and its end is no further fault', () => {
    const mails = [began(10_000, 'a', 'b'), ended(20_000, 'a', 'b')];
    expect(judge([], mails)).toMatchObject({ due: 0, repeated: 0, falseMails: 1, falseTargets: 2 });
  });

  test('a beginning after a mail about the end is false, unless the two crossed', () => {
    const both = [began(10_000, 'a'), ended(minute + 1_000, 'a')];
    const judged = (at: number) => judge([outage('a', 0, minute)], [...both, began(at, 'a')]);
    expect(judged(3 * minute)).toMatchObject({ falseMails: 1, repeated: 0 });
    expect(judged(minute + 5_000)).toMatchObject({ falseMails: 0, repeated: 1 });
  });

  test('an outage so short that both are right needs a mail only for the end of what was mailed', () => {
    const short = outage('a', 0, 8_000, 'allowed');
    expect(judge([short], [])).toMatchObject({ due: 0, came: 0, falseMails: 0 });
    expect(judge([short], [began(9_000, 'a'), ended(20_000, 'a')])).toMatchObject({ due: 0, falseMails: 0 });
    expect(judge([short], [began(9_000, 'a')])).toMatchObject({ due: 1, came: 0 });
  });

  test('an outage that begins while an earlier one is still reported belongs to the same incident', () => {
    const outages = [outage('a', 0, 8_000, 'allowed'), outage('a', 15_000, 75_000)];
    expect(judge(outages, [began(7_000, 'a'), ended(90_000, 'a')])).toMatchObject({ due: 2, came: 2, late: [0, 15] });
  });
});

test('a mail is clear with a target, a reason and a time in it', () => {
  expect(clarityOf(['web-01'], 'connection refused since 12:00')).toEqual({ target: true, reason: true, time: true });
  expect(clarityOf([], 'something is down')).toEqual({ target: false, reason: false, time: false });
});

describe('what a mail reports', () => {
  test('of Watchpost: one incident, several, and one that was delayed', () => {
    expect(watchpost.read({ subject: '[DOWN] web-01: connection refused', text: '' })).toEqual(report(['web-01'], []));
    expect(watchpost.read({ subject: '[RESOLVED] web-01: up again after 1m', text: '' })).toEqual(
      report([], ['web-01']),
    );
    expect(
      watchpost.read({ subject: '[RESOLVED] web-01: was down 12:01 to 12:09 UTC; this mail was delayed', text: '' }),
    ).toEqual(report(['web-01'], ['web-01']));
    const text = `3 targets

Going on
  target  state  since                    why
  web-01  DOWN   2026-01-01 12:00:00 UTC  connection refused

Over
  target  state     from                     lasted  why
  web-02  RESOLVED  2026-01-01 12:01:00 UTC  8m 12s  not web-03

web-01
  3 of 4 nodes
`;
    expect(watchpost.read({ subject: '[DIGEST] 2 incidents', text })).toEqual(report(['web-01', 'web-02'], ['web-02']));
    expect(watchpost.read({ subject: '[OFFLINE] network connectivity', text: 'all 4 targets' })).toEqual(
      report([], []),
    );
  });

  test('of Alertmanager: firing above, resolved below its heading', () => {
    const text = '3 alerts for alertname=TargetDown [2] Firing web-01 web-02 [1] Resolved web-03';
    expect(prometheus.read({ subject: '[FIRING:2]', text })).toEqual(report(['web-01', 'web-02'], ['web-03']));
    expect(prometheus.read({ subject: '[RESOLVED]', text: '[1] Resolved web-03' })).toEqual(report([], ['web-03']));
  });

  test('of Icinga, Nagios and Monit: by the subject', () => {
    expect(icinga.read({ subject: '[PROBLEM] http on web-01 is CRITICAL!', text: '' })).toEqual(report(['web-01'], []));
    expect(icinga.read({ subject: '[RECOVERY] http on web-01 is OK!', text: '' })).toEqual(report([], ['web-01']));
    const alert = (kind: string) => `** ${kind} Service Alert: web-01/HTTP is CRITICAL **`;
    expect(nagios.read({ subject: alert('PROBLEM'), text: '' })).toEqual(report(['web-01'], []));
    expect(nagios.read({ subject: alert('RECOVERY'), text: '' })).toEqual(report([], ['web-01']));
    expect(monit.read({ subject: 'monit alert --  Connection failed web-01', text: '' })).toEqual(
      report(['web-01'], []),
    );
    expect(monit.read({ subject: 'monit alert --  Connection succeeded web-01', text: '' })).toEqual(
      report([], ['web-01']),
    );
  });

  test('only mails to the recipient count, and HTML is read without its title', async () => {
    const mail = (recipient: string) => ({
      at: 10_000,
      recipients: [recipient],
      raw: 'Subject: [RESOLVED]\r\nContent-Type: text/html\r\n\r\n<title>web-02</title><b>[1] Resolved</b><i>web-01</i>',
    });
    const outages = [outage('web-01', 0, 5_000)];
    const { verdict, unclear } = await resultOf(prometheus, 'ops@a', outages, [mail('ops@a'), mail('ops@b')]);
    expect(verdict).toMatchObject({ due: 2, came: 1, late: [5], falseMails: 0 });
    expect(unclear.beginnings).toBe(0);
  });
});

describe('the tables', () => {
  const result = (verdict: Partial<SystemResult['verdict']>): SystemResult => ({
    system: 'Some',
    verdict: { due: 2, came: 2, late: [4, 8], repeated: 0, falseMails: 0, falseTargets: 0, ...verdict },
    mails: 5,
    unclear: { beginnings: 3, target: 0, reason: 2, time: 0 },
    history: [-8, 3],
  });

  test('a cell says what was missing, false and repeated', () => {
    expect(cellOf(undefined)).toBe('not run');
    expect(cellOf(result({}))).toBe('all');
    expect(cellOf(result({ due: 0, came: 0 }))).toBe('silent, right');
    expect(cellOf(result({ came: 1, repeated: 2 }))).toBe('**1 of 2**, again 2');
    expect(cellOf(result({ due: 0, came: 0, falseMails: 2, falseTargets: 9 }))).toBe('**false 2 (9)**');
  });

  test('the history of a day is the target with the largest error', () => {
    expect(historyCellOf(undefined)).toBe('not run');
    expect(historyCellOf(result({}))).toBe('-8 s');
    expect(historyCellOf({ ...result({}), history: [-0.2, 0.4, 12.1] })).toBe('+12 s');
    expect(historyCellOf({ ...result({}), history: [-0.2] })).toBe('0 s');
    expect(historyCellOf({ ...result({}), history: [] })).toBe('0 s');
    expect(historyCellOf({ ...result({}), history: null })).toBe('keeps none');
    expect(historyCellOf({ ...result({}), history: { fault: 'connection refused' } })).toBe('no answer');
  });

  test('rows are days and systems, in the given order', () => {
    const done = [
      { day: 'two', seed: 1, results: [result({})] },
      { day: 'one', seed: 1, results: [result({ came: 0, late: [] })] },
    ];
    const days = ['one', 'two', 'three'].map((name) => ({ name, what: `day ${name}` }));
    expect(dayTable(days, ['Some', 'Other'], done)).toBe(
      '| day | Some | Other |\n| --- | --- | --- |\n| day one | **0 of 2** | not run |\n| day two | all | not run |\n',
    );
    expect(sumTable(['Some'], done).split('\n')[2]).toBe(
      '| Some | 2 | 10 | 2 of 4 | 4 s | 8 s | 0 | 0 (0) | of 6: 4 without reason | 3 s | 8 s |',
    );
  });
});

describe('histories', () => {
  const targets = ['web-01', 'web-02'].map((name) => ({ name, host: name, isTls: false }));

  test('of Nagios and Icinga: hard states, until the next one or the end', async () => {
    await using folder = await mkdtempDisposable(join(tmpdir(), 'watchpost-days-'));
    const path = join(folder.path, 'nagios.log');
    const lines = [
      '[50] SERVICE ALERT: web-02;HTTP;CRITICAL;HARD;3;refused',
      '[110] SERVICE ALERT: web-01;HTTP;CRITICAL;SOFT;1;refused',
      '[120] SERVICE ALERT: web-01;HTTP;CRITICAL;HARD;3;refused',
      '[130] SERVICE ALERT: web-01;Certificate;CRITICAL;HARD;3;expires',
      '[150] SERVICE ALERT: web-01;HTTP;WARNING;HARD;3;slow',
    ];
    writeFileSync(path, lines.join('\n'));
    expect(downtimesOfLogs([path], 'HTTP', { targets, from: 100_000, to: 200_000 })).toEqual(
      new Map([
        ['web-01', 30],
        ['web-02', 100],
      ]),
    );
    expect(() => downtimesOfLogs([], 'HTTP', { targets, from: 0, to: 1 })).toThrow('there is no log');
  });

  test('of Prometheus and Watchpost: by their API', () => {
    const past = { folder: '', targets, from: 0, to: 60_000 };
    const samples = { data: { result: [{ metric: { target: 'web-01' }, value: [60, '0.75'] }] } };
    const asked: string[] = [];
    const run = (answer: object) => (words: readonly string[]) => {
      asked.push(words.join(' '));
      return JSON.stringify(answer);
    };
    expect(prometheus.downtimes?.({ ...past, run: run(samples) })).toEqual(new Map([['web-01', 15]]));
    const figures = {
      targets: [
        { target: 'web-01', time: { down: 12.5 } },
        { target: 'web-02', time: null },
      ],
    };
    expect(watchpost.downtimes?.({ ...past, run: run(figures) })).toEqual(new Map([['web-01', 12.5]]));
    expect(asked[0]).toContain('probe_success{job="blackbox"}[60s]');
    expect(asked[1]).toContain('from=1970-01-01T00:00:00.000Z&to=1970-01-01T00:01:00.000Z');
    expect(monit.downtimes).toBeNull();
  });
});

describe('two runs', () => {
  const run = (results: readonly SystemResult[]) => ({
    seed: 1,
    at: '',
    versions: {},
    days: [{ day: 'one', seed: 1, results }],
  });
  const result = (system: string, verdict: Partial<SystemResult['verdict']>): SystemResult => ({
    system,
    verdict: { due: 2, came: 2, late: [], repeated: 0, falseMails: 0, falseTargets: 0, ...verdict },
    mails: 2,
    unclear: { beginnings: 1, target: 0, reason: 0, time: 0 },
    history: null,
  });

  test('the number of false mails and their lateness are no part of a verdict', () => {
    const first = run([result('Some', { falseMails: 1, falseTargets: 4, late: [3] })]);
    const second = run([result('Some', { falseMails: 2, falseTargets: 2, late: [9], due: 4, came: 4 })]);
    expect(differencesOf(first, second)).toEqual([]);
  });

  test('missing, false and repeated mails differ, and what was run once only', () => {
    const first = run([result('Some', {}), result('Other', { due: 0, came: 0 })]);
    const second = run([result('Some', { came: 1, repeated: 2 }), result('Third', { falseMails: 1 })]);
    expect(differencesOf(first, second)).toEqual([
      { day: 'one', system: 'Some', verdicts: ['all', '1 of 2, again'] },
      { day: 'one', system: 'Other', verdicts: ['silent', 'not run'] },
      { day: 'one', system: 'Third', verdicts: ['not run', 'all, false ones'] },
    ]);
  });

  test('of several lives of a day the worst of each system counts', () => {
    const life = (heldUpMs: number, ...results: readonly SystemResult[]) => ({
      day: 'one',
      seed: 1,
      results,
      heldUpMs,
    });
    const worst = worstOf([
      life(30, result('Some', { falseMails: 2 }), result('Other', { repeated: 1 })),
      life(90, result('Some', { came: 1 }), result('Other', {})),
      life(60, result('Some', { falseMails: 3 }), result('Other', { falseMails: 1 })),
    ]);
    expect(worst).toMatchObject({ day: 'one', heldUpMs: 90 });
    expect(worst.results.map((one) => [one.system, verdictOf(one)])).toEqual([
      ['Some', '1 of 2'],
      ['Other', 'all, false ones'],
    ]);
  });

  test('what is wrong in both may be wrong in another way, what is right may not become wrong', () => {
    const verdicts = ['all', 'silent', 'not run', '1 of 2', 'all, false ones', 'all, again', 'silent, false ones'];
    expect(verdicts.filter(isWrong)).toEqual(verdicts.slice(3));
  });
});

const report = (starts: readonly string[], ends: readonly string[]) => ({ began: starts, ended: ends });
