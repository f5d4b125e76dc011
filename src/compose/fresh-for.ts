import type { Clock } from '#kernel/clock.ts';

/** Reads what has a name, at most once in so many milliseconds for each. */
export function freshFor<Value>(
  ms: number,
  clock: Clock,
  read: (name: string) => Value | null,
): (name: string) => Value | null {
  const known = new Map<string, { readonly at: number; readonly value: Value }>();
  return (name) => {
    const now = clock.elapsed();
    const last = known.get(name);
    if (last !== undefined && now - last.at < ms) return last.value;
    const value = read(name);
    if (value === null) known.delete(name);
    else known.set(name, { at: now, value });
    return value;
  };
}
