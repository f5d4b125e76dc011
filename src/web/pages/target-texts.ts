import { describeDuration } from '#kernel/units.ts';
import { measuredTexts } from './measured-texts.ts';

// The words of the pages about targets and incidents; the others stand in texts.ts.

export const count = (number: number, one: string, many = `${one}s`): string =>
  `${number} ${number === 1 ? one : many}`;

/** How many there are of each kind, without those of which there are none: "3 up, 1 late". */
export const countVotes = (counts: Readonly<Record<string, number>>): string =>
  Object.entries(counts)
    .filter(([, number]) => number > 0)
    .map(([kind, number]) => `${number} ${kind}`)
    .join(', ');

/** A length of time in one unit: `40 s` (in tens), `4 min`, `5 h`, `12 days`. */
export function roundedDuration(ms: number): string {
  const [seconds, minutes, hours] = [ms / 1_000, ms / 60_000, ms / 3_600_000].map(Math.floor);
  if (minutes === undefined || minutes < 1) return `${Math.floor((seconds ?? 0) / 10) * 10} s`;
  if (hours === undefined || hours < 1) return `${minutes} min`;
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

const how = {
  up: 'up',
  partial: 'partly up',
  down: 'down',
  unknown: 'in an unknown state',
  maintenance: 'in maintenance',
  waiting: 'waiting',
} as const;

export const targetTexts = {
  sentence(facts: {
    name: string;
    status: keyof typeof how;
    up: number;
    all: number;
    forMs: number | null;
    uptime: string | null;
    p95: string | null;
  }) {
    const { name, status, up, all, forMs, uptime, p95 } = facts;
    const seen = all === 0 ? '' : status === 'up' || status === 'partial' ? ` from ${up} of ${count(all, 'node')}` : '';
    const past = [uptime ?? '', p95 === null ? '' : `p95 ${p95}`].filter(Boolean);
    const is =
      forMs === null || status === 'up' || status === 'waiting'
        ? `is ${how[status]}${seen}`
        : `has been ${how[status]}${seen} for ${describeDuration(forMs)}`;
    return `${name} ${is}${past.length === 0 ? '' : `; ${past.join('; ')}`}`;
  },
  latency: 'Latency',
  latencyLabel: (nodes: readonly string[]) =>
    `Latency over time of ${nodes.join(', ')}: medians, with bands to the 95th percentile`,
  bandWords: 'Line: median. Band: up to p95. Shaded: down, unknown, in maintenance or excluded.',
  excluded: (length: string) => `${length} excluded`,
  noLatency: 'No times were measured in this span.',
  span: 'Span',
  chosen: 'this span',
  plot: {
    hint: 'Drag to zoom in, Back undoes it. Keys: + and − zoom, arrows move, Escape shows the usual span; the wheel zooms while the chart has the focus or Ctrl is held.',
    only: 'Show only',
    all: 'all nodes',
    log: 'Log scale',
    smoke: 'Smoke',
    votes: 'Below the chart, at the same times: what each node saw. Green: up. Red: failed. Grey: unknown.',
    bands: 'Ten bands from the 5th to the 95th percentile. The colour of the median is the share of failed checks:',
    shares: ['none', 'up to 5 %', 'up to 20 %', 'up to 50 %', 'more'],
    failed: 'failed',
    median: 'median',
    steps: 'failed in {failed} of {all} steps',
  },
  job: {
    runs: 'Runs',
    caption: 'Of the last 7 days, the newest first; 60 at most. Durations are of runs that reported their start.',
    none: 'No run in the last 7 days.',
    ended: 'Time',
    result: 'Result',
    well: 'ended well',
    missing: 'no ping',
    duration: 'Duration',
    reason: 'Reason',
    output: 'Output of the last run',
    noOutput: 'The last run sent no output.',
    last: 'Last run',
    median: (span: string) => `Median duration, ${span}`,
    next: 'Next expected',
    overdue: (time: string) => `overdue for ${time}`,
  },
  glance: {
    month: '30 days',
    uptime: (span: string) => `Uptime, ${span}`,
    median: (span: string) => `Median, ${span}`,
    p95: (span: string) => `p95, ${span}`,
    loss: 'Loss, last rounds',
    certificate: 'Certificate',
    down: (span: string) => `Down, ${span}`,
    never: 'never',
  },
  changed: {
    reload: 'settings changed by a reload',
    certificate: 'another certificate',
    answers: 'other answers',
  },
  cameLate: (answers: number) => `${count(answers, 'answer')} came late`,
  events: (events: number, hasMore: boolean) =>
    hasMore
      ? `More than ${count(events, 'event')} in this span, ${events} of which are shown`
      : `${count(events, 'event')} in this span`,
  noEvents: 'No incident, reload or other event in this span.',
  certificates: 'Certificate',
  answersSeen: 'Answers',
  since: 'Seen since',
  by: 'By',
  subject: 'Subject',
  issuer: 'Issued by',
  validTo: 'Valid until',
  left: (days: number) => (days < 0 ? 'over' : `${count(Math.floor(days), 'day')} left`),
  fingerprint: 'SHA-256',
  now: 'now',
  before: 'before',
  noAnswers: 'no records',
  measured: measuredTexts,
  smoke: 'Loss and spread of the last rounds',
  smokeCaption:
    'Since the program was started, the last 40 rounds at most. Band: from the fastest to the slowest echo of a round. Line: the mean. From above: the share of echoes that were lost.',
  lost: (share: string) => `${share} lost`,
  smokeOf: (node: string, lost: string, least: string, most: string) =>
    `${node}: ${lost} lost, from ${least} to ${most}`,
  checkNow: 'Check now from all nodes',
  figures: 'Figures',
  uptime: 'Uptime',
  down: 'Down for',
  month: (uptime: string) => `${uptime} in 30 days`,
  fewAnswers: (least: number) => `Percentiles need ${least} answers.`,
  answers: 'Answers',
  rounds: 'Votes of the last rounds',
  roundsCaption: (rounds: number) => `The newest of ${count(rounds, 'round')} is on the right. The first was due at`,
  late: 'came late',
  noRounds: 'No round yet.',
  last: 'What the nodes saw last',
  due: 'The round was due at',
  rules: 'Rules',
  incidents: 'Incidents',
  incident: 'Incident',
  rule: 'Rule',
  began: 'Began',
  lasted: 'Lasted',
  cause: 'Cause',
  goesOn: 'so far',
  noIncidents: 'There were none.',
} as const;

const notice = {
  opened: 'notification',
  update: 'notification of another cause',
  reminder: 'reminder',
  resolved: 'notification of the recovery',
  closed: 'notification of the closing',
} as const;

const nth = (kind: keyof typeof notice, number: number) => (kind === 'reminder' ? ` ${number}` : '');

export const incidentTexts = {
  title: 'Incidents',
  list: (open: number) =>
    open === 0 ? 'No incident is open.' : `${count(open, 'incident is', 'incidents are')} open.`,
  sentence(it: {
    target: string;
    word: string;
    /** Of an incident of our own, what is or was wrong; null for one of a target. */
    own: string | null;
    cause: string;
    down: number;
    all: number;
    lasted: string;
    isOpen: boolean;
    notified: { who: string; others: number; after: string } | null;
  }) {
    const what = it.word.toLowerCase();
    const length = it.isOpen ? `has been ${what} for ${it.lasted}` : `was ${what} for ${it.lasted}`;
    const nodes = it.all === 0 ? '' : ` from ${it.down} of ${count(it.all, 'node')}`;
    const others = it.notified === null || it.notified.others === 0 ? '' : ` and ${count(it.notified.others, 'other')}`;
    const notified =
      it.notified === null
        ? 'No notifications were sent.'
        : `${it.notified.who}${others} ${it.notified.others > 0 ? 'were' : 'was'} notified after ${it.notified.after}.`;
    const said = it.own === null ? `${it.target} ${length}` : `${it.own}, for ${it.lasted}${it.isOpen ? ' now' : ''}`;
    return `${said}: ${it.cause}${nodes}. ${notified}`;
  },
  rule: 'Rule',
  severity: 'Severity',
  began: 'First failing round',
  ownBegan: 'Began',
  opened: 'Opened',
  ended: 'Ended',
  open: 'still open',
  held: 'Held back',
  acknowledged: 'Acknowledged',
  silenced: 'Silenced',
  excluded: 'Excluded from uptime',
  allTargets: 'all targets',
  until: 'until',
  votes: 'Votes',
  votesOpened: 'Votes that opened it',
  votesClosed: 'Votes that closed it',
  what: 'Reason',
  timeline: 'Timeline',
  meanwhile: 'Rounds during the incident',
  notKept: 'The results of these rounds have been deleted.',
  leftOut: (length: string) => `The rounds of ${length} in between are left out here.`,
  deliveries: 'Notifications',
  noDeliveries: 'None were sent.',
  firstFailing: 'first failing round',
  ownFirstFailing: 'began',
  nowBecause: 'another cause',
  openedNow: 'incident opened',
  openedHeld: 'incident opened, notification suppressed',
  acknowledgedBy: 'acknowledged',
  firstGood: 'first good round; incident over',
  ownFirstGood: 'over',
  closed: { unwatched: 'closed: no longer monitored', rule_removed: 'closed: the rule was removed' },
  sent: (kind: keyof typeof notice, number: number, who: string) =>
    `${notice[kind]}${nth(kind, number)} sent to ${who}`,
  notSent: (kind: keyof typeof notice, number: number, who: string) =>
    `${notice[kind]}${nth(kind, number)} could not be sent to ${who}`,
  after: (gap: string) => `+${gap}`,
  postMortem: {
    copy: 'Copy as post-mortem',
    copied: 'Copied',
    open: 'Post-mortem as Markdown',
    target: 'Target',
    lasted: 'Duration',
    headings: ['Impact', 'Root cause', 'What went well', 'What to improve'],
  },
  to: 'To',
  kind: 'What',
  kinds: { opened: 'began', update: 'another reason', reminder: 'reminder', resolved: 'is over', closed: 'closed' },
  state: 'State',
  delivery: {
    pending: 'pending',
    sent: 'sent',
    merged: 'sent with another',
    dead: 'given up',
  },
  shapes: { pending: 'waiting', sent: 'up', merged: 'up', dead: 'down' },
  needless: 'was not needed',
  when: 'When',
  attempts: 'Attempts',
  trouble: 'Last error',
  id: 'Name of this incident:',
  acknowledge: 'Acknowledge',
  whyAcknowledge: 'what is known or done',
  acknowledgeHint: 'No more notifications are sent about it until it is resolved.',
  acknowledgeButton: 'Acknowledge',
  silence: 'Silence the target for',
  because: 'Why',
  silenceButton: 'Silence',
} as const;
