import { describeDuration } from '#kernel/units.ts';
import { count, incidentTexts, targetTexts } from './target-texts.ts';

/** Every word that pages say by themselves. */
export const texts = {
  name: 'Watchpost',
  skip: 'Skip to the content',
  navigation: 'Main',
  times: 'Times are in',
  logout: 'Sign out',
  lost: {
    title: 'Not connected · Watchpost',
    words: 'Not connected since {time}. This is the state of that time.',
  },
  places: { overview: 'Overview', incidents: 'Incidents', check: 'Check', nodes: 'Nodes', status: 'Status' },
  states: {
    up: 'up',
    partial: 'partial',
    down: 'down',
    unknown: 'unknown',
    maintenance: 'maintenance',
    waiting: 'waiting',
  },
  phases: {
    resolve: 'resolve',
    connect: 'connect',
    proxy: 'proxy',
    tls: 'TLS',
    first_byte: 'first byte',
    transfer: 'transfer',
  },
  sources: {
    target: 'by the target',
    resolver: 'by name resolution: nothing is known of the target',
    node: 'by our node: nothing is known of the target',
    service: 'by the service: nothing is known of the target',
    third_party: 'by somebody else whom the check needs: nothing is known of the target',
  },
  map: {
    label: 'World map of the nodes',
    caption: 'A mark stands in the middle of a country for all nodes in it.',
  },
  overview: {
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
    up({
      up,
      all,
      partial,
      unknown,
      maintenance,
    }: Record<'up' | 'all' | 'partial' | 'unknown' | 'maintenance', number>) {
      if (up === all) return all === 1 ? 'The target is up.' : `All ${all} targets are up.`;
      const rest = [
        partial > 0 ? `${partial} partly` : '',
        unknown > 0 ? `${unknown} unknown` : '',
        maintenance > 0 ? `${maintenance} in maintenance` : '',
      ].filter(Boolean);
      return `${up} of ${count(all, 'target')} ${up === 1 ? 'is' : 'are'} up; ${rest.join(', ')}.`;
    },
    incidents: 'Open incidents',
    since: 'since',
    acknowledged: 'acknowledged',
    welcome: 'What to do next',
    steps: [
      'This demo watches Watchpost itself. Open a target to see how it was.',
      'Stop it, write your own targets into config/watchpost.yaml, and start it again; while it runs, a changed file is loaded by itself.',
      'Say under notify who is told. Until smtp is set, mails are written into the folder "mail" beside the database.',
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
    noneShown: 'No target is like that.',
    targets: 'Targets',
    target: 'Target',
    seen: 'Seen by nodes',
    days: '90 days',
    uptime: 'Uptime',
    latency: 'Latency',
    budget: 'Budget left',
    lately: 'Middle time of the nodes in the last rounds',
    daysInWords: (uptime: number | null, down: number) =>
      uptime === null
        ? '90 days: nothing is known'
        : `90 days: ${(uptime * 100).toFixed(3)} % up, down on ${count(down, 'day')}`,
  },
  status: {
    up: 'All services are working.',
    partial: 'Some services are working in part.',
    unknown: 'Nothing is known at the moment.',
    someUnknown: 'Nothing is known of some services; the others are working.',
    inMaintenance: 'Everything is working but for what is in maintenance.',
    down: (names: readonly string[]) =>
      names.length > 3
        ? `${names.length} services are not working.`
        : `${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} not working.`,
    states: {
      up: 'working',
      partial: 'working in part',
      down: 'not working',
      unknown: 'unknown',
      maintenance: 'in maintenance',
    },
    uptime: (share: string) => `${share} in 90 days`,
    daysAgo: '90 days ago',
    today: 'today',
    since: 'Since',
    notes: 'Notes',
    until: 'until',
    to: 'to',
    maintenance: 'Maintenance',
    planned: 'planned',
    goesOn: 'going on',
    missing: 'There is no such status page.',
  },
  login: {
    title: 'Sign in',
    user: 'User',
    password: 'Password',
    button: 'Sign in',
    wrong: 'There is no such user with this password.',
    busy: 'Too many tried just now: wait a minute.',
  },
  target: targetTexts,
  incident: incidentTexts,
  check: {
    title: 'Check from other places',
    lead: (nodes: number) =>
      nodes === 0
        ? 'No node is there at the moment, so nothing can be checked.'
        : `Is it down, or is it just you? Ask ${count(nodes, 'node')}.`,
    what: 'What to check',
    host: 'Host or address',
    hostHint: 'A name, an address, name:port or a whole URL.',
    example: 'https://example.com',
    from: 'From how many nodes',
    all: 'all',
    named: 'From these nodes only',
    start: 'Check',
    unable: 'This node cannot run every type: ',
    closed: 'Checks are started from this machine, or with a token.',
  },
  report: {
    waiting: (host: string, done: number, all: number) => `${host}: ${done} of ${count(all, 'node')} have answered`,
    outcome(host: string, did: string, counts: { up: number; down: number; unknown: number; all: number }) {
      const { up, down, unknown, all } = counts;
      const rest = [down > 0 ? `${down} did not` : '', unknown > 0 ? `${unknown} could not say` : ''].filter(Boolean);
      const whom = up === all && all > 1 ? `all ${all} nodes` : `${up} of ${count(all, 'node')}`;
      return `${host}: ${whom} ${did}${rest.length === 0 ? '' : `; ${rest.join(', ')}`}`;
    },
    started: 'Started',
    node: 'Node',
    place: 'Place',
    result: 'Result',
    time: 'Time',
    address: 'Address',
    phases: 'Where the time went',
    details: 'Details',
    stillWorking: 'still working',
    again: 'Check again',
    other: 'Check something else',
    json: 'As JSON',
    share: 'Copy the link',
    shared: 'Copied',
    unknownPlace: 'unknown place',
    by: (whose: string) => `Caused ${whose}.`,
    asConfigured: (target: string) => `The check of ${target}, as it is configured.`,
    toTarget: (target: string) => `To ${target}`,
    kept: 'Anybody with the link can see this report.',
  },
  nodes: {
    title: 'Nodes',
    sentence(online: number, away: readonly { name: string; forMs: number | null }[]) {
      if (online === 0 && away.length === 0) return 'There are no nodes.';
      const watching = `${count(online, 'node is', 'nodes are')} watching`;
      if (away.length === 0) return `${watching}.`;
      const gone = away
        .slice(0, 3)
        .map(({ name, forMs }) => `${name} has been away${forMs === null ? '' : ` for ${describeDuration(forMs)}`}`);
      const others = away.length > 3 ? [`${away.length - 3} more are away`] : [];
      return `${watching}; ${[...gone, ...others].join(', ')}.`;
    },
    lead: 'What you see is what these nodes saw. A node that is away or fails votes unknown, never down.',
    node: 'Node',
    health: 'Health',
    online: 'online',
    away: 'away',
    place: 'Place',
    network: 'Network',
    version: 'Version',
    capabilities: 'Can check',
    allTypes: 'all types',
    clock: 'Clock offset',
    lag: 'Lateness',
    load: 'Running',
    spool: 'Unsent results',
    targets: 'Targets',
    disagreement: 'Disagreement',
    here: 'in this process',
    queued: (running: number, queued: number) => (queued === 0 ? String(running) : `${running} (${queued} wait)`),
    meanings: {
      clock: 'Clock offset: how far the clock of the node is ahead of this one.',
      lag: 'Lateness: by how much its own event loop was held up at the worst in the last second.',
      disagreement: 'Disagreement: the share of its answers within the last hour that contradicted most of the others.',
      spool: 'Unsent results: what the node has measured and could not hand in yet.',
    },
  },
  problems: {
    title: (status: number) => titles[status] ?? (status >= 500 ? 'Something went wrong here' : 'That did not work'),
    signIn: 'This is for users who have signed in.',
    notForStrangers:
      'Strangers may start checks here, so what is watched is shown on this machine only: set http.users.',
    mayNotAct:
      'Acknowledging and silencing are for users who have signed in, or for a browser on this machine where there are no users.',
    home: 'To the first page',
    check: 'Check something',
    code: 'Code',
  },
} as const;

const titles: Readonly<Record<number, string>> = {
  400: 'That cannot be read',
  401: 'Please sign in',
  403: 'That is not for you',
  404: 'There is nothing here',
  405: 'Not this way',
  413: 'That is too much',
  414: 'That is too long',
  422: 'That cannot be done',
  429: 'Too many checks',
  500: 'Something went wrong here',
  503: 'Not now',
};
