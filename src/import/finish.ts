import { Document, isCollection, visit } from 'yaml';
import type { EnvironmentVariables } from '#config/read/environment.ts';
import { validateConfig } from '#config/check/validate.ts';
import { formatPath } from '#kernel/wording.ts';
import type { Problem } from '#config/read/problem.ts';
import { readYaml } from '#config/read/yaml.ts';
import { WatchpostError } from '#kernel/errors.ts';
import { type Draft, isMap, type PlainValue, type PlainMap } from './draft.ts';

interface FinishOptions {
  readonly env: EnvironmentVariables;
  /** Lines of a comment at the top. */
  readonly heading: readonly string[];
  /** Puts everything into the form of the file. */
  readonly change: (value: PlainValue) => PlainValue;
}

/**
 * The text of a configuration that `config check` accepts. What it would refuse is taken out of the draft and noted, so that
 * one odd target does not stand in the way of all others.
 */
export function finish(draft: Draft, { env, heading, change }: FinishOptions): string {
  nameCommonRule(draft);
  for (let attempt = 0; attempt < 50; attempt += 1) {
    const problems = problemsOf(render(draft, heading, change), env);
    if (draft.targets.size === 0) throw new WatchpostError('usage', 'it contains nothing that can be imported');
    if (problems.length === 0) {
      shareDefaults(draft);
      return render(draft, heading, change);
    }
    for (const problem of problems) takeOut(draft, problem);
  }
  throw new WatchpostError('internal', 'no valid configuration can be made of it');
}

function problemsOf(text: string, env: EnvironmentVariables): readonly Problem[] {
  const { root } = readYaml({ file: 'watchpost.yaml', text }, 0, env);
  return validateConfig(root).problems;
}

function takeOut(draft: Draft, { path, message }: Problem): void {
  const [section, key] = path.map(String);
  const why = `${formatPath(path.slice(2)) || 'it'}: ${message}`;
  if (section === 'targets' && key !== undefined) {
    const target = draft.targets.get(key);
    if (target !== undefined && path[2] === 'rules' && path[3] !== undefined) {
      const rules = namesIn(target.keys['rules']).filter((_, index) => index !== path[3]);
      draft.targets.set(key, { ...target, keys: { ...target.keys, rules } });
      draft.note('lost', target.place, `${target.title}: ${why}`);
      return;
    }
    if (target !== undefined) draft.note('left out', target.place, `${target.title}: ${why}`);
    draft.targets.delete(key);
  } else if (section === 'maintenance') {
    draft.maintenance.splice(Number(key), 1);
    draft.note('lost', 'maintenance', why);
  } else if (section === 'rules' && key !== undefined) {
    if (draft.rules.delete(key)) draft.note('lost', `rule ${key}`, why);
    forget(draft, 'rules', key);
  } else if (section === 'notify' && key !== undefined) {
    if (draft.notify.delete(key)) draft.note('lost', `notify ${key}`, why);
    forget(draft, 'notify', key);
  } else if (section !== undefined && draft.sections.delete(section)) {
    draft.note('lost', section, why);
  }
}

function forget(draft: Draft, list: 'rules' | 'notify', name: string): void {
  for (const [target, { keys, ...rest }] of draft.targets) {
    if (keys[list] === undefined) continue;
    draft.targets.set(target, {
      ...rest,
      keys: { ...keys, [list]: namesIn(keys[list]).filter((one) => one !== name) },
    });
  }
  const defaults = draft.sections.get('defaults');
  if (!isMap(defaults) || !(list in defaults)) return;
  draft.sections.set('defaults', { ...defaults, [list]: undefined });
}

// The rule of most targets about being down is `down`.
function nameCommonRule(draft: Draft): void {
  const candidates = [...draft.rules].filter(([, body]) => 'failing' in body).map(([name]) => name);
  if (candidates.length === 0 || draft.rules.has('down')) return;
  const uses = (name: string) =>
    [...draft.targets.values()].filter(({ keys }) => namesIn(keys['rules']).includes(name)).length;
  const [most = ''] = candidates.toSorted((a, b) => uses(b) - uses(a));
  const rules = [...draft.rules].map(([name, body]) => [name === most ? 'down' : name, body] as const);
  draft.rules.clear();
  for (const [name, body] of rules) draft.rules.set(name, body);
  for (const [name, target] of draft.targets) {
    const names = namesIn(target.keys['rules']).map((one) => (one === most ? 'down' : one));
    draft.targets.set(name, { ...target, keys: { ...target.keys, rules: names } });
  }
}

const namesIn = (value: PlainValue | undefined): readonly PlainValue[] => (Array.isArray(value) ? value : []);

// What most targets say is said once.
function shareDefaults(draft: Draft): void {
  const defaults: Record<string, PlainValue | undefined> = {};
  for (const key of ['every', 'nodes', 'rules', 'notify']) {
    const common = mostCommon([...draft.targets.values()].map(({ keys }) => keys[key]));
    // A new target has no recipients only if it says so.
    if (common === null || draft.targets.size < 2 || (key === 'notify' && JSON.stringify(common) === '[]')) continue;
    defaults[key] = common;
    for (const [name, target] of draft.targets) {
      if (JSON.stringify(target.keys[key]) !== JSON.stringify(common)) continue;
      draft.targets.set(name, { ...target, keys: { ...target.keys, [key]: undefined } });
    }
  }
  const before = draft.sections.get('defaults');
  const together = { ...(isMap(before) ? before : {}), ...defaults };
  if (Object.keys(together).length > 0) draft.sections.set('defaults', together);
}

// Null if one of them does not say it: a default would say it for that one.
function mostCommon(values: readonly (PlainValue | undefined)[]): PlainValue | null {
  const counts = new Map<string, { readonly value: PlainValue; readonly count: number }>();
  for (const value of values) {
    if (value === undefined) return null;
    const text = JSON.stringify(value);
    counts.set(text, { value, count: (counts.get(text)?.count ?? 0) + 1 });
  }
  const [most] = [...counts.values()].toSorted((a, b) => b.count - a.count);
  return most === undefined || most.count < 2 ? null : most.value;
}

const order = ['data', 'http', 'smtp', 'defaults', 'targets', 'rules', 'notify', 'maintenance', 'retention'];

function render(draft: Draft, heading: readonly string[], change: FinishOptions['change']): string {
  const all: Record<string, PlainValue | undefined> = {
    ...Object.fromEntries(draft.sections),
    targets: Object.fromEntries([...draft.targets].map(([name, { keys }]) => [name, keys])),
    rules: mapOrNothing(draft.rules),
    notify: mapOrNothing(draft.notify),
    maintenance: draft.maintenance.length === 0 ? undefined : draft.maintenance,
  };
  const known = Object.entries(all).filter(([, value]) => value !== undefined);
  const sorted = known.toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b));
  const document = new Document(change(Object.fromEntries(sorted)), { aliasDuplicateObjects: false });
  visit(document, {
    Collection(_key, node, path) {
      if (path.length <= 3 && !(path.length === 3 && isShort(node.toJSON()))) return undefined;
      if (isCollection(node) && isShort(node.toJSON())) node.flow = true;
      return undefined;
    },
  });
  document.commentBefore = heading.map((line) => ` ${line}`).join('\n');
  return document.toString({ lineWidth: 0 });
}

function isShort(value: unknown): boolean {
  const text = JSON.stringify(value);
  return text.length < 120 && !text.includes(String.raw`\n`);
}

const mapOrNothing = (map: ReadonlyMap<string, PlainMap>) => (map.size === 0 ? undefined : Object.fromEntries(map));
