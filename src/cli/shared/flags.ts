import { z } from 'zod';

/** An option of a check type as the command line writes it. */
export interface Flag {
  /** Where its value stands in the spec. */
  readonly path: readonly string[];
  /** `expect-status`, without dashes in front. */
  readonly name: string;
  /** `value` takes one, `pair` takes `name=value`; `on` and `off` take none and mean true and false. */
  readonly kind: 'value' | 'pair' | 'on' | 'off';
  readonly description: string;
  /** As it would be written, or null if there is none. */
  readonly default: string | null;
  /** What the value has to be. */
  readonly schema: FlagSchema;
}

type FlagSchema = z.core.$ZodType;

/**
 * The options of a spec as flags: the keys of its path joined by dashes. If a value takes several forms there is a flag
 * for the plain one and one for each key of the others.
 */
export function flagsOf(spec: z.ZodObject): readonly Flag[] {
  const flags = new Map<string, Flag>();
  for (const [key, schema] of Object.entries(spec.shape)) {
    if (key === 'type' || key === 'host') continue;
    for (const flag of flagsAt([key], schema)) if (!flags.has(flag.name)) flags.set(flag.name, flag);
  }
  return [...flags.values()];
}

/** The options with which a spec is parsed, out of the words that were given for each flag. */
export function optionsOf(given: readonly { readonly flag: Flag; readonly words: readonly string[] }[]): object {
  const options: FlagTree = new Map();
  for (const { flag, words } of given) put(options, flag.path, valueOf(flag, words));
  return plain(options);
}

// `--tls --tls-server-name x`: the finer one of two says more.
type FlagTree = Map<string, unknown>;

function put(tree: FlagTree, [key = '', ...rest]: readonly string[], value: unknown): void {
  const here = tree.get(key);
  if (rest.length === 0) {
    if (!(here instanceof Map)) tree.set(key, value);
    return;
  }
  const below: FlagTree = here instanceof Map ? here : new Map();
  tree.set(key, below);
  put(below, rest, value);
}

function plain(tree: FlagTree): object {
  return Object.fromEntries([...tree].map(([key, value]) => [key, value instanceof Map ? plain(value) : value]));
}

// As in a configuration file `5` is a number and `true` a truth value; if the option takes none it is the text.
function valueOf({ kind, schema }: Flag, words: readonly string[]): unknown {
  if (kind === 'on' || kind === 'off') return kind === 'on';
  if (kind === 'pair') return Object.fromEntries(words.map(pairOf));
  const [only = ''] = words;
  const forms = words.length === 1 ? [scalarOf(only), only] : [words.map(scalarOf), words];
  return forms.find((form) => z.safeParse(schema, form).success) ?? forms[0];
}

function pairOf(word: string): [string, string] {
  const end = word.search(/[=:]/);
  return end === -1 ? [word, ''] : [word.slice(0, end).trim(), word.slice(end + 1).trim()];
}

const plainWords: ReadonlyMap<string, unknown> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

function scalarOf(word: string): unknown {
  if (/^-?\d+(?:\.\d+)?$/.test(word)) return Number(word);
  return plainWords.has(word) ? plainWords.get(word) : word;
}

interface Facts {
  readonly inner: FlagSchema;
  readonly description: string;
  readonly default: string | null;
}

function flagsAt(path: readonly string[], schema: FlagSchema, about = ''): readonly Flag[] {
  const { inner, description: own, default: preset } = factsOf(schema);
  const description = own || `${path.at(-1)?.replaceAll('_', ' ')}: ${about}`;
  const forms = formsOf(inner);
  const name = path.join('-').replaceAll('_', '-').toLowerCase();
  const kind = kindOf(forms, preset);
  const below = forms.flatMap((form) =>
    form instanceof z.ZodObject
      ? Object.entries(form.shape).flatMap(([key, value]) => flagsAt([...path, key], value, description))
      : [],
  );
  if (kind === null) return below;
  const shown = kind === 'value' ? preset : null;
  return [{ path, name: kind === 'off' ? `no-${name}` : name, kind, description, default: shown, schema }, ...below];
}

function kindOf(forms: readonly FlagSchema[], preset: string | null): Flag['kind'] | null {
  const scalars = forms.filter((form) => !isObject(form));
  if (scalars.length === 0) return null;
  if (scalars.every((form) => form instanceof z.ZodRecord)) return 'pair';
  if (scalars.every(isOnlyTrue)) return 'on';
  if (!scalars.every((form) => form instanceof z.ZodBoolean) || preset === null) return 'value';
  return preset === 'true' ? 'off' : 'on';
}

// What can be nothing but true needs no word for that.
const isOnlyTrue = (form: FlagSchema) =>
  form instanceof z.ZodLiteral && [...form.values].every((value) => value === true);

// A list of objects has no word of its own: the flags of its first object's keys say it.
function isObject(form: FlagSchema): boolean {
  return form instanceof z.ZodObject || (form instanceof z.ZodArray && formsOf(form.def.element).every(isObject));
}

// Every form that a value may have: the members of a union, and of the unions in it.
function formsOf(schema: FlagSchema): readonly FlagSchema[] {
  const { inner } = factsOf(schema);
  return inner instanceof z.ZodUnion ? inner.options.flatMap(formsOf) : [inner];
}

// What is written stands on the input side of a codec; the description may stand on any wrapping.
function factsOf(schema: FlagSchema): Facts {
  const own = schema instanceof z.ZodType ? (schema.description ?? '') : '';
  const wrapped = (inner: FlagSchema, preset: string | null): Facts => {
    const facts = factsOf(inner);
    return { ...facts, description: own || facts.description, default: preset ?? facts.default };
  };
  if (schema instanceof z.ZodDefault) return wrapped(schema.def.innerType, written(schema));
  if (schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) {
    return wrapped(schema.def.innerType, null);
  }
  if (schema instanceof z.ZodPipe) return wrapped(schema.def.in, null);
  return { inner: schema, description: own, default: null };
}

function written({ def }: z.ZodDefault): string | null {
  const value: unknown = z.encode(def.innerType, def.defaultValue);
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : null;
}
