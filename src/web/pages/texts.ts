import { dayTexts, overviewTexts, statusTexts } from './overview-texts.ts';
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
    excluded: 'excluded',
    waiting: 'waiting',
    warning: 'warning',
  },
  phases: {
    resolve: 'resolve',
    connect: 'connect',
    proxy: 'proxy',
    tls: 'TLS',
    login: 'login',
    query: 'query',
    first_byte: 'first byte',
    transfer: 'transfer',
  },
  sources: {
    target: 'by the target',
    resolver: 'by name resolution: nothing is known of the target',
    node: 'by our node: nothing is known of the target',
    service: 'by the service: nothing is known of the target',
    third_party: 'by a third party that the check needs: the state of the target is unknown',
  },
  map: {
    label: 'World map of the nodes',
    caption: 'A mark stands in the middle of a country for all nodes in it.',
    byTime: (bounds: readonly string[]) => `The fainter, the slower: from ${bounds.join(', ')} on.`,
  },
  overview: overviewTexts,
  status: statusTexts,
  days: dayTexts,
  login: {
    title: 'Sign in',
    user: 'User',
    password: 'Password',
    button: 'Sign in',
    wrong: 'Wrong user name or password.',
    busy: 'Too many attempts; wait a minute.',
  },
  target: targetTexts,
  incident: incidentTexts,
  check: {
    title: 'Check from other locations',
    lead: (nodes: number) =>
      nodes === 0
        ? 'No node is online, so nothing can be checked.'
        : `Is it down, or just for you? Check from ${count(nodes, 'node')}.`,
    what: 'What to check',
    host: 'Host or address',
    hostHint: 'A name, an address, name:port or a whole URL.',
    example: 'https://example.com',
    from: 'From how many nodes',
    all: 'all',
    named: 'From these nodes only',
    start: 'Check',
    unable: 'This node does not support: ',
    closed: 'Checks are started from this machine, or with a token.',
  },
  report: {
    waiting: (host: string, done: number, all: number) => `${host}: ${done} of ${count(all, 'node')} have answered`,
    outcome(
      host: string,
      did: string,
      counts: { up: number; down: number; unknown: number; all: number },
      { median, lost }: { readonly median: string | null; readonly lost: string | null },
    ) {
      const { up, down, unknown, all } = counts;
      const rest = [down > 0 ? `${down} did not` : '', unknown > 0 ? `${unknown} could not check` : ''].filter(Boolean);
      const whom = up === all && all > 1 ? `all ${all} nodes` : `${up} of ${count(all, 'node')}`;
      const figures = [median === null ? '' : `median ${median}`, lost === null ? '' : `${lost} lost`].filter(Boolean);
      return [
        `${host}: ${whom} ${did}`,
        ...[rest, figures].filter(({ length }) => length > 0).map((one) => one.join(', ')),
      ].join('; ');
    },
    started: 'Started',
    node: 'Node',
    place: 'Place',
    result: 'Result',
    time: 'Time',
    families: 'IPv4, IPv6',
    address: 'Address',
    phases: 'Phases',
    details: 'Details',
    stillWorking: 'still working',
    again: 'Check again',
    other: 'Check something else',
    json: 'As JSON',
    share: 'Copy the link',
    shared: 'Copied',
    picture: 'Picture',
    unknownPlace: 'unknown place',
    by: (whose: string) => `Caused ${whose}.`,
    asConfigured: (target: string) => `The check of ${target}, as it is configured.`,
    toTarget: (target: string) => `To ${target}`,
    kept: 'Anyone with the link can see this report.',
  },
  nodes: {
    title: 'Nodes',
    sentence(online: number, offline: readonly { name: string; isStarting: boolean }[]) {
      if (online === 0 && offline.length === 0) return 'There are no nodes.';
      const watching = `${count(online, 'node is', 'nodes are')} watching`;
      if (offline.length === 0) return `${watching}.`;
      const named = offline.slice(0, 3).map(({ name, isStarting }) => `${name} is ${isStarting ? 'starting' : 'away'}`);
      const others = offline.length > 3 ? [`${offline.length - 3} more are not online`] : [];
      return `${watching}; ${[...named, ...others].join(', ')}.`;
    },
    lead: 'What you see is what these nodes saw. A node that is away or fails votes unknown, never down.',
    node: 'Node',
    health: 'Health',
    online: 'online',
    starting: 'starting',
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
      clock: "Clock offset: how far the node's clock is ahead of the hub's.",
      lag: 'Lateness: the longest delay of its event loop in the last second.',
      disagreement: 'Disagreement: the share of its votes in the last hour that contradicted most other nodes.',
      spool: 'Unsent results: results that the hub has not received yet.',
    },
  },
  problems: {
    title: (status: number) => titles[status] ?? (status >= 500 ? 'Something went wrong here' : 'That did not work'),
    signIn: 'This is for users who have signed in.',
    notForStrangers: 'Anyone may start checks here, so targets are shown on this machine only: set http.users.',
    mayNotAct:
      'Acknowledging and silencing are for users who have signed in, or, if there are no users, for a browser on this machine.',
    home: 'To the first page',
    check: 'Check something',
    code: 'Code',
  },
} as const;

const titles: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  401: 'Please sign in',
  403: 'Not allowed',
  404: 'Page not found',
  405: 'Method not allowed',
  413: 'Too large',
  414: 'Address too long',
  422: 'Cannot be done',
  429: 'Too many checks',
  500: 'Something went wrong here',
  503: 'Not now',
};
