/** Whether a text matches a pattern as Go's `filepath.Match` reads it, without any slashes, as Gatus does. */
export function matchesGlob(pattern: string, text: string): boolean {
  const parts = partsOf(pattern.replaceAll('/', ''));
  if (parts === null) return false;
  const characters = Array.from(text.replaceAll('/', ''));
  let [at, part] = [0, 0];
  // Where the last star stands, and how much of the text it takes.
  let star: { readonly part: number; taken: number } | null = null;
  while (at < characters.length) {
    const wanted = parts[part];
    if (wanted === 'star') {
      star = { part, taken: at };
      part += 1;
    } else if (wanted?.(characters[at] ?? '') === true) {
      [at, part] = [at + 1, part + 1];
    } else if (star === null) {
      return false;
    } else {
      star.taken += 1;
      [at, part] = [star.taken, star.part + 1];
    }
  }
  return parts.slice(part).every((rest) => rest === 'star');
}

type Part = 'star' | ((character: string) => boolean);

// Null for a pattern that Go refuses.
function partsOf(pattern: string): readonly Part[] | null {
  const parts: Part[] = [];
  const found = pattern.matchAll(/\*|\?|\\(.)|\[(\^?)((?:\\.|[^\]\\])+)\]|[^[\\]/gsu);
  let length = 0;
  for (const [whole, escaped, isNegated, set] of found) {
    length += whole.length;
    if (whole === '*') parts.push('star');
    else if (whole === '?') parts.push(() => true);
    else if (set !== undefined) {
      const holds = rangesOf(set);
      parts.push((character) => holds(character) !== (isNegated === '^'));
    } else parts.push((character) => character === (escaped ?? whole));
  }
  return length === pattern.length ? parts : null;
}

function rangesOf(set: string): (character: string) => boolean {
  const ranges = [...set.matchAll(/(\\.|[^\\])(?:-(\\.|[^\\]))?/gsu)].map(([, from = '', to = from]) => {
    const [low, high] = [from, to].map((one) => one.replace(/^\\(?=.)/su, ''));
    return (character: string) => character >= (low ?? '') && character <= (high ?? '');
  });
  return (character) => ranges.some((holds) => holds(character));
}
