import { channelTypes } from '#channels/index.ts';
import { type AnyCheck, checkOf, CheckSpec } from '#checks/index.ts';
import { isRecord } from '#kernel/json.ts';
import { inOneGo, type Steps } from '#kernel/turns.ts';
import { formatDuration } from '#kernel/units.ts';
import { needsObjective, refusalOf, type Rule } from '#monitor/judge/rule.ts';
import type { Target } from '#monitor/judge/target.ts';
import type { ValidatedTarget } from '../config.ts';
import { explain, type Issue, validate } from '../read/explain.ts';
import {
  asksForeignService,
  ForeignService,
  foreignServiceProblems,
  inexpressibleProblems,
} from '../shape/foreign-service.ts';
import { find, type SourceNode, problemAt, problemAtKey } from '../read/located.ts';
import { OwnService } from '../shape/own-service.ts';
import { impossibleRules, unmeasurableObjectives } from './possible.ts';
import type { Problem } from '../read/problem.ts';
import { referenceProblems } from './references.ts';
import { specWithin } from './timeout.ts';
import { ConfigFile } from '../shape/schema.ts';
import { spellOut } from '../shape/spell-out.ts';
import { specOf, TargetKeys } from '../shape/target.ts';

export interface Validation {
  readonly problems: readonly Problem[];
  /** What is right about the file, or null where too little is. Of use only without problems. */
  readonly file: ConfigFile | null;
  readonly targets: readonly ValidatedTarget[];
  /** What was written, without its short forms. */
  readonly root: SourceNode;
}

/**
 * Everything that is wrong with a configuration. What spans several values is judged too if other parts are wrong:
 * the wrong parts are left out for that. `enrolled` are the names of the nodes on other machines; where
 * others may come, any may be named.
 */
export function validateConfig(written: SourceNode): Validation {
  return inOneGo(validationSteps(written, [], false));
}

/** The same in steps. */
export function* validationSteps(
  written: SourceNode,
  enrolled: readonly string[],
  mayNodesCome: boolean,
): Steps<Validation> {
  const { root, problems: short } = spellOut(written);
  yield;
  const { output, issues: all } = validate(ConfigFile(), root.value);
  yield;
  const issues = [...all.filter(({ path }) => path[0] !== 'service'), ...serviceIssues(root)];
  const problems = [
    ...short,
    ...issues.flatMap((issue) => explain(issue, root)),
    ...referenceProblems(root, enrolled, mayNodesCome),
    ...foreignServiceProblems(root),
    ...noTargetsProblem(root),
    ...noNodesProblem(root),
    ...unconnectedHub(root),
    ...evidenceElsewhere(root),
  ];
  yield;
  const sound = output === null ? without(root.value, issues) : root.value;
  const file = output ?? validate(ConfigFile(), sound).output;
  if (file === null) return { problems: eachOnce(problems), file, targets: [], root };

  const everyMs = issues.some(({ path }) => path[0] === 'defaults') ? null : file.defaults.every;
  const targets: ValidatedTarget[] = [];
  for (const name of find(root, ['targets'])?.children.keys() ?? []) {
    if (!Object.hasOwn(file.targets ?? {}, name)) continue;
    yield;
    const found = judgeTarget(name, root, everyMs);
    problems.push(...found.problems);
    if (found.target === null) continue;
    const isLookedAt = checkOf(found.target.spec.type).heard === null;
    if (asksForeignService(root) && isLookedAt) problems.push(...inexpressibleProblems(found.target, root));
    targets.push(found.target);
    problems.push(...unfitRules(found.target, file, root));
  }
  yield;
  problems.push(
    ...impossibleRules(targets, file, root, nodeCount(root)),
    ...unmeasurableObjectives(targets, file, root),
  );
  problems.push(...sharedSecrets(targets, root));
  return { problems: eachOnce(problems), file, targets, root };
}

// The target of a ping could not be known.
function sharedSecrets(targets: readonly ValidatedTarget[], root: SourceNode): readonly Problem[] {
  const owners = new Map<string, string>();
  return targets.flatMap(({ name, spec }) => {
    const hash = checkOf(spec.type).heard?.(spec).secretHash ?? null;
    const owner = hash === null ? undefined : owners.get(hash);
    if (hash !== null && owner === undefined) owners.set(hash, name);
    return owner === undefined
      ? []
      : [problemAt(root, ['targets', name, 'secret_hash'], `is also the secret of ${owner}: each needs its own`)];
  });
}

// What stands once and holds for several targets is wrong once.
function eachOnce(problems: readonly Problem[]): readonly Problem[] {
  const first = new Map<string, Problem>();
  for (const problem of problems) {
    const { file, line, column } = problem.place;
    const key = `${file} ${line} ${column} ${problem.message}`;
    if (!first.has(key)) first.set(key, problem);
  }
  return [...first.values()];
}

// A union blames whatever form it likes; the key "url" says which one was meant.
function serviceIssues(root: SourceNode): readonly Issue[] {
  const service = find(root, ['service']);
  if ((service?.value ?? undefined) === undefined) return [];
  const { issues } = validate(asksForeignService(root) ? ForeignService : OwnService, service?.value);
  return issues.map((issue) => ({ ...issue, path: ['service', ...issue.path] }));
}

function noTargetsProblem(root: SourceNode): readonly Problem[] {
  const has = (section: string) => (find(root, [section])?.value ?? undefined) !== undefined;
  if (has('targets') || has('targets_from') || has('service')) return [];
  return [
    problemAt(root, ['targets'], 'is missing: expected a map of targets, such as "shop: { check: ..., host: ... }"'),
  ];
}

function noNodesProblem(root: SourceNode): readonly Problem[] {
  const nodes = find(root, ['nodes']);
  if (nodes === null || !isRecord(nodes.value) || nodes.children.size > 0 || find(root, ['nats']) !== null) return [];
  return [
    problemAtKey(root, ['nodes'], 'needs at least one node, such as "zz1: {}", because there is no nats section'),
  ];
}

function unconnectedHub(root: SourceNode): readonly Problem[] {
  if ((find(root, ['hubs'])?.value ?? undefined) === undefined) return [];
  if (asksForeignService(root))
    return [problemAtKey(root, ['hubs'], 'cannot be used where another service runs the checks')];
  if (find(root, ['nats']) !== null) return [];
  return [problemAtKey(root, ['hubs'], 'needs nats: hubs share their history through it')];
}

function evidenceElsewhere(root: SourceNode): readonly Problem[] {
  const evidence = find(root, ['evidence'])?.value ?? false;
  if (!asksForeignService(root) || evidence === false) return [];
  return [problemAtKey(root, ['evidence'], 'is not available where another service runs the checks')];
}

// Null if more may join, or where only another service knows.
function nodeCount(root: SourceNode): number | null {
  if (asksForeignService(root) || find(root, ['nats']) !== null) return null;
  const nodes = find(root, ['nodes']);
  return nodes === null || !isRecord(nodes.value) ? 1 : nodes.children.size;
}

// The union of all targets carries no rules of a check type that span several options: its own schema does.
function judgeTarget(name: string, root: SourceNode, defaultEveryMs: number | null) {
  const path = ['targets', name];
  const raw = find(root, path)?.value;
  if (!isRecord(raw)) return { problems: [], target: null };
  const keys = validate(TargetKeys, raw).output;
  const spec = validate(CheckSpec, specOf(raw));
  if (keys === null || spec.output === null) {
    return { problems: spec.issues.flatMap((issue) => explain(issue, root, path)), target: null };
  }

  const everyMs = keys.cron === undefined ? (keys.every ?? defaultEveryMs) : null;
  const check = checkOf(spec.output.type);
  const longestMs = check.deadlineMs(spec.output);
  const target: ValidatedTarget = { name, keys, spec: spec.output };
  const scheme = foreignScheme(raw['host'], check);
  if (scheme !== null) return { problems: [problemAt(root, [...path, 'host'], scheme)], target };
  if (everyMs === null || longestMs <= everyMs) return { problems: [], target };
  const quicker = Object.hasOwn(raw, 'timeout') ? null : specWithin(raw, everyMs);
  if (quicker !== null) return { problems: [], target: { ...target, spec: quicker } };
  const message =
    `one check may take ${formatDuration(longestMs)}, longer than the ${formatDuration(everyMs)} between two; ` +
    'check less often or give the check less time';
  return { problems: [problemAt(root, [...path, 'every'], message)], target };
}

function foreignScheme(host: unknown, { type, schemes }: AnyCheck): string | null {
  const [, scheme = ''] = typeof host === 'string' ? (/^([a-z][a-z0-9+.-]*):\/\//i.exec(host) ?? []) : [];
  if (scheme === '' || schemes === null || schemes.includes(scheme.toLowerCase())) return null;
  const known = schemes.map((one) => `${one}://`).join(' and ');
  return `${scheme}:// is nothing that a check of the type ${type} speaks: it knows ${known}`;
}

// Rules that a check of this type cannot tell, and windows that hold too few of its results.
function unfitRules({ name, keys, spec }: ValidatedTarget, { rules, defaults }: ConfigFile, root: SourceNode) {
  const place = keys.rules === undefined ? ['defaults', 'rules'] : ['targets', name, 'rules'];
  const everyMs = keys.cron === undefined ? (keys.every ?? defaults.every) : null;
  return (keys.rules ?? defaults.rules).flatMap((ruleName, index) => {
    const rule = rules[ruleName];
    if (rule === undefined) return [];
    const objective = keys.objective === undefined ? defaults.objective : keys.objective;
    const reason = refusalOf(rule, checkOf(spec.type), everyMs) ?? missingObjective(rule, objective ?? null);
    if (reason === null) return [];
    const about = keys.rules === undefined ? `the target ${name} cannot have the rule ${ruleName}: ` : '';
    return [problemAt(root, [...place, index], `${about}${reason}`)];
  });
}

function missingObjective(rule: Rule, objective: Target['objective']): string | null {
  if (objective !== null || !needsObjective(rule)) return null;
  return 'it watches the budget of an objective, and there is none; write one, such as "objective: 99.9% over 30d"';
}

// Sections that are one thing: what is wrong with a key of it is wrong with all.
const wholes = ['service', 'nats', ...channelTypes.flatMap(({ sections }) => Object.keys(sections))];

// Drops each target, rule, node or recipient, and each key of another section, that has a problem.
function without(value: unknown, issues: readonly Issue[]): unknown {
  if (!isRecord(value)) return value;
  const wrong = new Set(issues.flatMap(pathsOf).map(([section, key]) => `${String(section)} ${String(key ?? '')}`));
  return Object.fromEntries(
    Object.entries(value).flatMap(([section, content]) => {
      if (wrong.has(`${section} `)) return [];
      if (!isRecord(content)) return [[section, content]];
      const right = Object.entries(content).filter(([key]) => !wrong.has(`${section} ${key}`));
      const isOne = wholes.includes(section);
      const spoilt = isOne ? issues.some(({ path }) => path[0] === section) : right.length === 0;
      return spoilt && Object.keys(content).length > 0 ? [] : [[section, Object.fromEntries(right)]];
    }),
  );
}

function pathsOf(issue: Issue): readonly (readonly PropertyKey[])[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
}
