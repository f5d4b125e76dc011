/** What each name leads to, directly and through others, without itself; those that lead to nothing are left out. A circle ends where it began. */
export function closureOf(edges: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const closure = new Map<string, readonly string[]>();
  for (const name of edges.keys()) {
    const found = new Set<string>();
    const left = [...(edges.get(name) ?? [])];
    for (let next = left.pop(); next !== undefined; next = left.pop()) {
      if (next === name || found.has(next)) continue;
      found.add(next);
      left.push(...(edges.get(next) ?? []));
    }
    if (found.size > 0) closure.set(name, [...found]);
  }
  return closure;
}

/** The same edges the other way round. */
export function reversed(edges: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly string[]> {
  const back = new Map<string, string[]>([...edges.keys()].map((name) => [name, []]));
  for (const [from, names] of edges) for (const to of names) back.get(to)?.push(from);
  return back;
}
