import { checkOf, type CheckTypeName, checkTypeNames } from '#checks/index.ts';
import { validate } from '../read/explain.ts';
import { container, find, leaf, type SourceNode, placeOf, problemAt } from '../read/located.ts';
import type { Problem } from '../read/problem.ts';
import { TypeDefaults } from './target.ts';

export interface ExpandedConfig {
  readonly root: SourceNode;
  readonly problems: readonly Problem[];
}

/**
 * The configuration without its short forms: a target with `hosts` is one target for each, the defaults of its check type and what
 * its groups say stand in each target, and keys that begin with `x-` are gone. Every value still knows where it was written.
 */
export function spellOut(root: SourceNode): ExpandedConfig {
  const problems: Problem[] = [];
  const sections = new Map([...root.children].filter(([name]) => !name.startsWith('x-')));
  const targets = sections.get('targets');
  if (targets === undefined || !isMap(targets)) return { root: withChildren(root, sections), problems };

  const expanded = new Map<string, readonly string[]>();
  const single = new Map<string, SourceNode>();
  for (const [name, target] of targets.children) {
    const made = oneForEachHost(root, name, target, problems);
    if (made.size !== 1 || !made.has(name)) expanded.set(name, [...made.keys()]);
    for (const [one, each] of made) {
      if (!single.has(one)) single.set(one, each);
      else problems.push(problemAt(root, ['targets', name], `creates a target "${one}" that already exists`));
    }
  }
  const sound = soundDefaults(root);
  const typed = new Map([...single].map(([name, target]) => [name, withTypeDefaults(target, sound)]));
  const groups = groupsOf(root, typed, problems);
  const complete = [...single].map(([name, target]) => {
    const grouped = withGroups(name, target, groups, problems);
    return [name, withExpanded(withTypeDefaults(grouped, sound), expanded)] as const;
  });
  sections.set('targets', withChildren(targets, new Map(complete)));
  const maintenance = maintenanceOf(sections.get('maintenance'), groups, expanded);
  if (maintenance !== null) sections.set('maintenance', maintenance);
  return { root: withChildren(root, sections), problems };
}

function oneForEachHost(
  root: SourceNode,
  name: string,
  target: SourceNode,
  problems: Problem[],
): ReadonlyMap<string, SourceNode> {
  const hosts = target.children.get('hosts');
  const path = ['targets', name, 'hosts'];
  if (hosts === undefined) return new Map([[name, target]]);
  const say = (message: string) => (problems.push(problemAt(root, path, message)), new Map<string, SourceNode>());
  if (target.children.has('host')) return say('cannot be set together with host');
  if (hosts.children.size === 0) return say('expected a list of hosts, or a map of names to hosts');
  const made = new Map<string, SourceNode>();
  for (const [key, host] of hosts.children) {
    const own = `${name}-${Array.isArray(hosts.value) ? slugOf(host.value) : key}`;
    const children = new Map([...target.children].filter(([one]) => one !== 'hosts'));
    children.set('host', host);
    if (own.length > 63)
      say(`${String(host.value).slice(0, 60)} makes a name of more than 63 characters: name it in a map`);
    else if (made.has(own)) say(`two of them are called "${own}": name them in a map`);
    else made.set(own, withChildren(target, children));
  }
  return made;
}

/** `https://shop.example.com/health` is `shop-example-com-health`. */
export const slugOf = (host: unknown) =>
  String(host)
    .toLowerCase()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');

// Wrong defaults are reported at their own position, not at every target.
function soundDefaults(root: SourceNode): ReadonlyMap<unknown, SourceNode> {
  const sound = checkTypeNames.flatMap((check) => {
    const defaults = find(root, ['defaults', check]);
    return defaults !== null && isSound(check, defaults) ? [[check, defaults] as const] : [];
  });
  return new Map(sound);
}

function withTypeDefaults(target: SourceNode, sound: ReadonlyMap<unknown, SourceNode>): SourceNode {
  const defaults = sound.get(target.children.get('check')?.value);
  if (defaults === undefined) return target;
  return joined(
    target,
    defaults,
    ['every', 'cron'].some((key) => target.children.has(key)) ? ['every', 'cron', 'timezone'] : [],
  );
}

const isSound = (check: CheckTypeName, defaults: SourceNode) =>
  isMap(defaults) && validate(TypeDefaults(checkOf(check)), defaults.value).output !== null;

/** Maps are joined key by key, anything else stays as the first has it. */
export function joined(own: SourceNode, defaults: SourceNode, without: readonly string[] = []): SourceNode {
  const children = new Map(own.children);
  for (const [key, child] of defaults.children) {
    if (without.includes(key)) continue;
    const mine = children.get(key);
    if (mine === undefined) children.set(key, child);
    else if (isMap(mine) && isMap(child)) children.set(key, joined(mine, child));
  }
  return withChildren(own, children);
}

interface TargetGroup {
  readonly name: string;
  readonly located: SourceNode;
  readonly members: ReadonlySet<string>;
}

function groupsOf(
  root: SourceNode,
  targets: ReadonlyMap<string, SourceNode>,
  problems: Problem[],
): readonly TargetGroup[] {
  return [...(root.children.get('groups')?.children ?? [])].flatMap(([name, located]) => {
    const match = located.children.get('match');
    if (match === undefined || match.children.size === 0) return [];
    const members = new Set([...targets].filter(([, target]) => hasLabels(target, match)).map(([one]) => one));
    // What is found in files may come later.
    if (members.size === 0 && !root.children.has('targets_from'))
      problems.push(problemAt(root, ['groups', name, 'match'], 'no target has these labels'));
    return [{ name, located, members }];
  });
}

const hasLabels = (target: SourceNode, match: SourceNode) =>
  [...match.children].every(([name, { value }]) => target.children.get('labels')?.children.get(name)?.value === value);

// What a target says itself wins; what expanded groups say holds together.
function withGroups(name: string, target: SourceNode, groups: readonly TargetGroup[], problems: Problem[]): SourceNode {
  const children = new Map(target.children);
  for (const key of ['rules', 'notify']) {
    const said = groups.flatMap(({ located, members }) => (members.has(name) ? (located.children.get(key) ?? []) : []));
    const [first, ...more] = said;
    if (first === undefined || children.has(key)) continue;
    children.set(
      key,
      more.length === 0 || said.some(({ value }) => value === 'all')
        ? (said.find(({ value }) => value === 'all') ?? first)
        : unionOf(said),
    );
  }
  const silent = groups.find(({ located, members }) => members.has(name) && isFalse(located.children.get('evidence')));
  const evidence = silent?.located.children.get('evidence');
  if (evidence !== undefined && !children.has('evidence')) children.set('evidence', evidence);
  const objective = children.has('objective') ? null : objectiveOf(name, groups, problems);
  if (objective !== null) children.set('objective', objective);
  return withChildren(target, children);
}

const isFalse = (node: SourceNode | undefined) => node?.value === false;

function objectiveOf(target: string, groups: readonly TargetGroup[], problems: Problem[]): SourceNode | null {
  const said = groups.flatMap(({ name, located, members }) => {
    const objective = members.has(target) ? located.children.get('objective') : undefined;
    return objective === undefined ? [] : [{ name, objective }];
  });
  const [first] = said;
  if (first === undefined) return null;
  const other = said.find(({ objective }) => objective.value !== first.objective.value);
  if (other !== undefined) {
    const message = `${target} is in the group ${first.name} with ${String(first.objective.value)} too: say at ${target} which one holds`;
    problems.push({ place: placeOf(other.objective.spot), path: ['groups', other.name, 'objective'], message });
  }
  return first.objective;
}

function unionOf(lists: readonly SourceNode[]): SourceNode {
  const entries = new Map(lists.flatMap(entriesOf).map((entry) => [entry.value, entry]));
  return listOf(lists[0] ?? entries.values().next().value, [...entries.values()]);
}

const entriesOf = (list: SourceNode): readonly SourceNode[] =>
  Array.isArray(list.value) ? [...list.children.values()] : [list];

// Who names a target that became several means all of them.
function withExpanded(target: SourceNode, expanded: ReadonlyMap<string, readonly string[]>): SourceNode {
  const named = target.children.get('depends_on');
  if (named === undefined || expanded.size === 0) return target;
  return withChildren(target, new Map([...target.children, ['depends_on', allNamed(named, expanded)]]));
}

function allNamed(named: SourceNode, expanded: ReadonlyMap<string, readonly string[]>): SourceNode {
  const entries = entriesOf(named);
  if (!entries.some(({ value }) => expanded.has(String(value)))) return named;
  return listOf(
    named,
    entries.flatMap(
      (entry) => expanded.get(String(entry.value))?.map((name) => leaf(name, entry.spot, entry.key)) ?? [entry],
    ),
  );
}

function maintenanceOf(
  written: SourceNode | undefined,
  groups: readonly TargetGroup[],
  expanded: ReadonlyMap<string, readonly string[]>,
): SourceNode | null {
  const own =
    written === undefined
      ? []
      : entriesOf(written).map((entry) => withTargets(entry, (named) => allNamed(named, expanded)));
  const grouped = groups.flatMap(({ located, members }) => {
    const list = located.children.get('maintenance');
    if (list === undefined || members.size === 0) return [];
    const targets = (spot: SourceNode) =>
      listOf(
        spot,
        [...members].map((name) => leaf(name, spot.spot, null)),
      );
    return entriesOf(list).map((entry) =>
      withChildren(entry, new Map([...entry.children, ['targets', targets(entry)]])),
    );
  });
  if (grouped.length === 0 && expanded.size === 0) return null;
  const [first = written] = [...own, ...grouped];
  return first === undefined || (written !== undefined && !Array.isArray(written.value))
    ? null
    : listOf(written ?? first, [...own, ...grouped]);
}

function withTargets(entry: SourceNode, change: (named: SourceNode) => SourceNode): SourceNode {
  const named = entry.children.get('targets');
  return named === undefined ? entry : withChildren(entry, new Map([...entry.children, ['targets', change(named)]]));
}

function listOf(like: SourceNode | undefined, entries: readonly SourceNode[]): SourceNode {
  if (like === undefined) throw new RangeError('a list stands nowhere');
  return container(like.spot, like.key, new Map(entries.map((entry, index) => [String(index), entry])), true);
}

const withChildren = (located: SourceNode, children: ReadonlyMap<string, SourceNode>): SourceNode =>
  isMap(located) || located.children.size > 0 ? container(located.spot, located.key, children, false) : located;

const isMap = ({ value }: SourceNode) => typeof value === 'object' && value !== null && !Array.isArray(value);
