/** The label, or annotation, that makes a target of what has it: hosts to check, separated by blanks or commas. */
export const hostLabel = 'watchpost.host';

const labelPrefix = 'watchpost.label.';

/** The hosts of a label. */
export function hostsIn(written: string): string[] {
  return written.split(/[\s,]+/).filter((host) => host !== '');
}

/**
 * A group in the form of `http_sd`, as JSON in which equal groups are equal texts; none if there are no hosts. Labels are `about` and
 * those of `watchpost.label.*`, which win.
 */
export function groupOf(
  targets: readonly string[],
  written: Readonly<Record<string, string>>,
  about: Readonly<Record<string, string>>,
): string[] {
  if (targets.length === 0) return [];
  const own = Object.entries(written).filter(([label]) => label.startsWith(labelPrefix));
  const labels = Object.fromEntries(own.map(([label, value]) => [label.slice(labelPrefix.length), value] as const));
  const sorted = Object.fromEntries(
    Object.entries({ ...about, ...labels }).toSorted(([one], [other]) => Number(one > other) - Number(one < other)),
  );
  return [JSON.stringify({ targets, labels: sorted })];
}
