/** A part of an expression. */
type Expression =
  | { readonly kind: 'number'; readonly value: number }
  | {
      readonly kind: 'metric';
      readonly name: string;
      readonly matchers: readonly Matcher[];
      readonly rangeText: string | null;
    }
  | { readonly kind: 'call'; readonly name: string; readonly parts: readonly Expression[] }
  | { readonly kind: 'arithmetic'; readonly operator: string; readonly left: Expression; readonly right: Expression };

export interface Matcher {
  readonly label: string;
  readonly operator: '=' | '!=' | '=~' | '!~';
  readonly value: string;
}

export interface Comparison {
  readonly operator: string;
  /** The metric and its labels, and the function over a range around it with the range's text. */
  readonly metric: string;
  readonly matchers: readonly Matcher[];
  readonly over: { readonly name: string; readonly range: string } | null;
  /** The value of the metric if the comparison tips over; times count from now. */
  readonly limit: number;
}

const tokenPattern =
  /\s*(?:(\d+(?:\.\d+)?(?:e[+-]?\d+)?)|([A-Za-z_:][\w:]*)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(\[[^\]]*\])|(<=|>=|==|!=|=~|!~|[-+*/%^(){},<>=]))/gy;

/** The comparisons that are joined by `and`, `or` or nothing in an alert's expression; null if it is of another kind. */
export function readComparisons(text: string): readonly Comparison[] | null {
  const branches = text.replaceAll(/#.*$/gm, '').split(/\s+(?:or|and)\s+/i);
  const read = branches.map(readComparison);
  const found = read.filter((one) => one !== null);
  return found.length === read.length ? found : null;
}

function readComparison(text: string): Comparison | null {
  const tokens = tokensOf(text.trim());
  if (tokens === null) return null;
  const reader = new TokenReader(tokens);
  try {
    const chain = reader.chain();
    return chain === null || !reader.isDone ? null : comparisonOf(chain);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function tokensOf(text: string): readonly string[] | null {
  const tokens: string[] = [];
  tokenPattern.lastIndex = 0;
  while (tokenPattern.lastIndex < text.length) {
    const found = tokenPattern.exec(text);
    if (found === null) return null;
    tokens.push(found[0].trim());
  }
  return tokens;
}

interface Chain {
  readonly parts: readonly Expression[];
  readonly operators: readonly string[];
}

const comparing: readonly string[] = ['<', '<=', '>', '>=', '==', '!='];
const aggregations: readonly string[] = [
  'avg',
  'min',
  'max',
  'sum',
  'round',
  'abs',
  'ceil',
  'floor',
  'clamp_min',
  'clamp_max',
];

class TokenReader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  get isDone(): boolean {
    return this.#at === this.#tokens.length;
  }

  chain(): Chain | null {
    const parts = [this.#sum()];
    const operators: string[] = [];
    while (comparing.includes(this.#next())) {
      operators.push(this.#take());
      if (this.#next() === 'bool') this.#take();
      parts.push(this.#sum());
    }
    return operators.length === 0 ? null : { parts, operators };
  }

  #next(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #take(wanted?: string): string {
    const token = this.#next();
    if (token === '' || (wanted !== undefined && token !== wanted)) throw new RangeError(`no ${wanted ?? 'more'}`);
    this.#at += 1;
    return token;
  }

  #sum(): Expression {
    let left = this.#product();
    while (['+', '-'].includes(this.#next()))
      left = { kind: 'arithmetic', operator: this.#take(), left, right: this.#product() };
    return left;
  }

  #product(): Expression {
    let left = this.#atom();
    while (['*', '/', '%'].includes(this.#next()))
      left = { kind: 'arithmetic', operator: this.#take(), left, right: this.#atom() };
    return left;
  }

  #atom(): Expression {
    if (this.#next() === '(') {
      this.#take();
      const inner = this.#sum();
      this.#take(')');
      return inner;
    }
    const token = this.#take();
    if (/^\d/.test(token)) return { kind: 'number', value: Number(token) };
    if (!/^[A-Za-z_:]/.test(token)) throw new RangeError(token);
    this.#grouping();
    return this.#next() === '(' ? this.#call(token) : this.#metric(token);
  }

  #call(name: string): Expression {
    this.#take('(');
    const parts: Expression[] = [];
    while (this.#next() !== ')') {
      parts.push(this.#sum());
      if (this.#next() === ',') this.#take();
    }
    this.#take(')');
    this.#grouping();
    return { kind: 'call', name, parts };
  }

  // `by (instance)` before or after what is grouped.
  #grouping(): void {
    if (!['by', 'without'].includes(this.#next())) return;
    while (this.#take() !== ')');
  }

  #metric(name: string): Expression {
    const matchers: Matcher[] = [];
    if (this.#next() === '{') {
      this.#take();
      while (this.#next() !== '}') {
        const label = this.#take();
        const operator = this.#take();
        const value = this.#take().slice(1, -1).replaceAll(/\\(.)/g, '$1');
        if (operator === '=' || operator === '!=' || operator === '=~' || operator === '!~')
          matchers.push({ label, operator, value });
        else throw new RangeError(operator);
        if (this.#next() === ',') this.#take();
      }
      this.#take('}');
    }
    const rangeText = this.#next().startsWith('[') ? this.#take().slice(1, -1) : null;
    return { kind: 'metric', name, matchers, rangeText };
  }
}

const mirrored: Readonly<Record<string, string>> = {
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
  '==': '==',
  '!=': '!=',
};

// Of `0 <= x < 3` the end at which something is bad is the last one.
function comparisonOf({ parts, operators }: Chain): Comparison | null {
  const index = operators.length - 1;
  const [left, right] = [parts[index], parts[index + 1]];
  const [operator = ''] = operators.slice(index);
  if (left === undefined || right === undefined) return null;
  const metrics = [left, right].flatMap(metricsIn);
  const [first] = metrics;
  if (first === undefined || metrics.some(({ name }) => name !== first.name)) return null;
  const difference = (value: number) => valueOf(left, value) - valueOf(right, value);
  const slope = difference(1) - difference(0);
  if (slope === 0 || Number.isNaN(slope)) return null;
  const isMirrored = slope < 0;
  const { name: metric, matchers, over } = first;
  return {
    operator: isMirrored ? (mirrored[operator] ?? operator) : operator,
    metric,
    matchers,
    over,
    limit: -difference(0) / slope,
  };
}

interface Selector {
  readonly name: string;
  readonly matchers: readonly Matcher[];
  readonly over: Comparison['over'];
}

function metricsIn(part: Expression): readonly Selector[] {
  if (part.kind === 'number') return [];
  if (part.kind === 'arithmetic') return [...metricsIn(part.left), ...metricsIn(part.right)];
  if (part.kind === 'metric') return [{ name: part.name, matchers: part.matchers, over: null }];
  return part.parts.flatMap((inner): readonly Selector[] =>
    inner.kind === 'metric' && inner.rangeText !== null
      ? [{ name: inner.name, matchers: inner.matchers, over: { name: part.name, range: inner.rangeText } }]
      : metricsIn(inner),
  );
}

// All that is compared here is a straight line of one metric.
function valueOf(part: Expression, metric: number): number {
  switch (part.kind) {
    case 'number':
      return part.value;
    case 'metric':
      return metric;
    case 'arithmetic':
      return calculate(part.operator, valueOf(part.left, metric), valueOf(part.right, metric));
    case 'call': {
      if (part.name === 'time') return 0;
      const [inner] = part.parts;
      if (inner === undefined || !(part.name.endsWith('_over_time') || aggregations.includes(part.name)))
        throw new RangeError(part.name);
      return valueOf(inner, metric);
    }
  }
}

function calculate(operator: string, left: number, right: number): number {
  if (operator === '+') return left + right;
  if (operator === '-') return left - right;
  if (operator === '*') return left * right;
  if (operator === '/') return left / right;
  throw new RangeError(operator);
}
