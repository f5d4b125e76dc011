import { checkOf } from '#checks/index.ts';
import type { Rule } from '#monitor/judge/rule.ts';
import { formatDuration } from '#kernel/units.ts';
import type { ValidatedTarget } from '../config.ts';
import { find, type SourceNode, problemAt } from '../read/located.ts';
import type { ErrorPath } from '#kernel/wording.ts';
import type { Problem } from '../read/problem.ts';
import type { ConfigFile } from '../shape/schema.ts';

/** Rules of these targets that can never come true, each once. `nodes` is how many there are, or null. */
export function impossibleRules(
  targets: readonly ValidatedTarget[],
  file: ConfigFile,
  root: SourceNode,
  nodes: number | null,
): readonly Problem[] {
  const problems: Problem[] = [];
  for (const [name, rule] of Object.entries(file.rules)) {
    if (find(root, ['rules', name]) === null) continue;
    problems.push(...tooLong(name, rule, file, root));
    for (const { name: target, keys, spec } of targets) {
      if (!(keys.rules ?? file.defaults.rules).includes(name)) continue;
      const isHeard = checkOf(spec.type).heard !== null;
      const count = isHeard ? 1 : countOf(keys.nodes ?? file.defaults.nodes, nodes);
      const found = tooMany(name, rule, target, count, root);
      problems.push(...found);
      if (found.length > 0) break;
    }
  }
  return problems;
}

function countOf(choice: ConfigFile['defaults']['nodes'], nodes: number | null): number | null {
  if (choice === 'all') return nodes;
  return typeof choice === 'number' ? choice : choice.length;
}

function tooMany(name: string, rule: Rule, target: string, nodes: number | null, root: SourceNode): readonly Problem[] {
  if (nodes === null) return [];
  const has = nodes === 1 ? 'one' : String(nodes);
  const say = (key: string, count: number) => {
    const message = `can never be true: it needs ${count} nodes, but ${target} has ${has}`;
    return problemAt(root, ['rules', name, key], message);
  };
  const { threshold, quorum } = rule;
  const key = find(root, ['rules', name, 'nodes']) === null ? rule.kind : 'nodes';
  return [
    ...(threshold.kind === 'count' && threshold.count > nodes ? [say(key, threshold.count)] : []),
    ...(quorum !== undefined && quorum > nodes ? [say('quorum', quorum)] : []),
  ];
}

// What a window looks back on has to be kept for as long.
function tooLong(name: string, rule: Rule, { retention }: ConfigFile, root: SourceNode): readonly Problem[] {
  const path: ErrorPath = ['rules', name, rule.kind, 'window'];
  if (rule.kind !== 'latency' || rule.options.window <= retention.raw) return [];
  const message = `looks back further than results are kept: retention.raw is ${formatDuration(retention.raw)}`;
  return [problemAt(root, path, message)];
}

/** Objectives over more time than verdicts are kept for, each once, at its position in the file. */
export function unmeasurableObjectives(
  targets: readonly ValidatedTarget[],
  { retention, defaults }: ConfigFile,
  root: SourceNode,
): readonly Problem[] {
  const keptMs = retention.verdicts;
  if (keptMs === null) return [];
  const say = (path: ErrorPath, overMs: number) => {
    const [period, kept] = [overMs, keptMs].map(formatDuration);
    return problemAt(root, path, `covers ${period}, but verdicts are kept for ${kept}: see retention.verdicts`);
  };
  const own = targets.flatMap(({ name, keys: { objective } }) =>
    objective === undefined || objective === null || objective.overMs <= keptMs
      ? []
      : [say(['targets', name, 'objective'], objective.overMs)],
  );
  const overMs = defaults.objective?.overMs ?? 0;
  return overMs <= keptMs ? own : [...own, say(['defaults', 'objective'], overMs)];
}
