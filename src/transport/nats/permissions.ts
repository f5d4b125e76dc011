import { everything, sharedSubjects, subjectsOf } from '#protocol/nodes.ts';

export interface KeyHolder {
  readonly name: string;
  /** The public nkey, such as `UABC...`. */
  readonly key: string;
}

/** A hub with a key of its own, or, without a name, all hubs that share one. */
export interface HubKey {
  readonly name: string | null;
  /** The public nkey. */
  readonly key: string;
}

// A node may answer what it is asked, once, within this time; and nothing else but what its own subjects allow.
const answerWithin = '10s';

/**
 * What nats-server includes to know hubs and nodes. No hub can say what only nodes do. A node can send and hear under its own name alone: it cannot pass
 * for another node, read another's commands or answers, or ask the hub's.
 */
export function permissionsFile(hubs: readonly HubKey[], nodes: readonly KeyHolder[]): string {
  const users = [...hubs.map(hub), ...nodes.map(node)];
  return `# Written by "watchpost nodes"; changes by hand are lost.\nusers: [\n${users.join('\n')}\n]\n`;
}

function hub({ name, key }: HubKey): string {
  const publish = `{ allow: ${list([everything, ...ofLog])}, deny: ${list(ofNodes)} }`;
  return `  # ${name === null ? 'the hub' : `hub ${name}`}\n  { nkey: ${key}, permissions: { publish: ${publish}, subscribe: ${list([everything])} } }`;
}

// What several hubs need to share one history: a stream and a bucket of JetStream.
const streams = ['WP_LOG', 'KV_WP_HUBS'];
const ofLog = [
  '$JS.API.INFO',
  ...streams.flatMap((stream) => [`$JS.API.STREAM.*.${stream}`, `$JS.API.STREAM.MSG.GET.${stream}`]),
  '$JS.API.DIRECT.GET.KV_WP_HUBS.>',
  '$KV.WP_HUBS.>',
];

// What only nodes say.
const ofNodes = [sharedSubjects.reports, sharedSubjects.results, sharedSubjects.resultsFor('*')];

function node({ name, key }: KeyHolder): string {
  const subjects = subjectsOf(name);
  const publish = list([subjects.report, subjects.result, subjects.resultFor('*')]);
  const subscribe = list([subjects.command('*'), subjects.abort, sharedSubjects.hub, `${subjects.inbox}.>`]);
  return [
    `  # ${name}`,
    `  { nkey: ${key}, permissions: {`,
    `    publish: ${publish},`,
    `    subscribe: ${subscribe},`,
    `    allow_responses: { max: 1, expires: "${answerWithin}" } } }`,
  ].join('\n');
}

const list = (subjects: readonly string[]) => `[${subjects.map((subject) => `"${subject}"`).join(', ')}]`;
