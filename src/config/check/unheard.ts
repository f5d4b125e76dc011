import type { Severity } from '#monitor/judge/rule.ts';
import type { Target } from '#monitor/judge/target.ts';
import { filesLike } from '../read/source.ts';

type NotifiableTarget = Pick<Target, 'name' | 'rules' | 'recipients'>;

const severities: readonly Severity[] = ['critical', 'warning', 'info'];
const mostNamed = 5;

/** Targets with rules of severities that none of their recipients takes: a warning for each such set of severities. */
export function unnotifiedSeverityWarnings(targets: readonly NotifiableTarget[]): readonly string[] {
  const unheard = Map.groupBy(targets, (target) => missingSeverities(target).join(' and '));
  unheard.delete('');
  return [...unheard].map(([lack, some]) => {
    const names = some.slice(0, mostNamed).map(({ name }) => name);
    const more = some.length > mostNamed ? ` and ${some.length - mostNamed} more` : '';
    const count = some.length === 1 ? '1 target has' : `${some.length} targets have`;
    return `${count} no recipient for ${lack} incidents: ${names.join(', ')}${more}`;
  });
}

function missingSeverities({ rules, recipients }: NotifiableTarget): readonly Severity[] {
  return severities.filter(
    (severity) =>
      rules.some(({ rule }) => rule.severity === severity) &&
      !recipients.some((recipient) => recipient.severities.includes(severity)),
  );
}

/** Patterns of `targets_from` that no file matches: a warning for each. Files may come later. */
export async function matchlessWarnings(patterns: readonly string[]): Promise<readonly string[]> {
  const matches = await Promise.all(patterns.map(async (pattern) => filesLike(pattern)));
  return patterns
    .filter((_, index) => matches[index]?.length === 0)
    .map((pattern) => `no file matches ${pattern}, named in targets_from`);
}
