import { count } from './target-texts.ts';

// The words of the overview and of status pages.

export const overviewTexts = {
  none: 'Nothing is watched yet.',
  down: ({
    down,
    up,
    all,
    first,
    ago,
  }: Record<'down' | 'up' | 'all', number> & { first: string; ago: string | null }) =>
    down === 1
      ? `${up} of ${count(all, 'target')} ${all === 1 || up === 1 ? 'is' : 'are'} up. ${first} ${ago === null ? 'is down' : `has been down for ${ago}`}.`
      : `${down} of ${count(all, 'target')} are down, ${first} ${ago === null ? 'first' : `the longest: ${ago}`}.`,
  up(counts: Record<'up' | 'all' | 'partial' | 'unknown' | 'maintenance' | 'waiting', number>) {
    const { up, all, partial, unknown, maintenance, waiting } = counts;
    if (up === all) return all === 1 ? 'The target is up.' : `All ${all} targets are up.`;
    if (waiting === all)
      return all === 1 ? 'The target waits for its first check.' : `All ${all} targets wait for their first check.`;
    const rest = [
      partial > 0 ? `${partial} partly` : '',
      unknown > 0 ? `${unknown} unknown` : '',
      maintenance > 0 ? `${maintenance} in maintenance` : '',
      waiting > 0 ? `${waiting} waiting for a first check` : '',
    ].filter(Boolean);
    return `${up} of ${count(all, 'target')} ${up === 1 ? 'is' : 'are'} up; ${rest.join(', ')}.`;
  },
  allRows: (all: number) => `Show all ${all} targets`,
  incidents: 'Open incidents',
  began: 'began',
  since: 'since',
  acknowledged: 'acknowledged',
  welcome: 'What to do next',
  steps: [
    'This demo monitors Watchpost itself. Open a target to see its history.',
    'Stop it, write your own targets into config/watchpost.yaml, and start it again; while it runs, it reloads the file when it changes.',
    'List recipients under notify. Until smtp is configured, mails are written into the folder "mail" beside the database.',
    'Add nodes in other places: docs/nodes.md.',
  ],
  text: 'Name or host',
  state: 'State',
  label: 'Label',
  group: 'Group by',
  view: 'View',
  list: 'list',
  wall: 'wall',
  any: 'any',
  nothing: 'nothing',
  show: 'Show',
  noLabel: 'without this label',
  groupUp: (up: number, all: number) => `${up} of ${all} up`,
  noneShown: 'No target matches.',
  targets: 'Targets',
  target: 'Target',
  seen: 'Nodes',
  days: '90 days',
  uptime: 'Uptime',
  sort: {
    name: 'Sort by name',
    uptime: 'Sort by uptime, the lowest first',
    latency: 'Sort by latency, the slowest first',
  },
  sortByState: 'Sort by state',
  latency: 'Latency',
  budget: 'Budget left',
  moreIncidents: (more: number) => `${more} more`,
  andMore: (more: number) => `and ${more} more`,
  lately: 'Median time of all nodes in the last rounds',
  firstCheck: 'first check at',
  firstPing: 'waits for its first ping',
  neverDue: 'no check is due',
  knownFor: (length: string) => `in ${length}`,
  daysInWords: (uptime: string | null, down: number, known: string | null) =>
    uptime === null
      ? '90 days: nothing is known'
      : `${known ?? '90 days'}: ${uptime} up, down on ${count(down, 'day')}`,
} as const;

export const statusTexts = {
  daysAgo: '90 days ago',
  today: 'today',
} as const;

export const dayTexts = {
  hint: 'Use the arrow keys to read each day.',
  down: (length: string) => `down for ${length}`,
  states: {
    up: 'no downtime',
    partial: 'up from some places only',
    unknown: 'unknown',
    maintenance: 'in maintenance',
    excluded: 'excluded',
    waiting: 'not checked yet',
    warning: 'no downtime',
    none: 'not watched',
  },
} as const;
