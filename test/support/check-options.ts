import { z } from 'zod';
import { type AnyCheck, checkOf, checkTypeNames } from '#checks/index.ts';

interface Json {
  readonly type?: string;
  readonly const?: string | number;
  readonly enum?: readonly (string | number)[];
  readonly anyOf?: readonly Json[];
  readonly items?: Json;
  readonly properties?: Readonly<Record<string, Json>>;
  readonly additionalProperties?: Json | boolean;
  readonly required?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly default?: string | number | boolean | object;
  readonly description?: string;
  /** What a codec says of values out of its bounds. */
  readonly bounds?: string;
}

/** The options of a check type as the Markdown table of `docs/checks.md`: name, what it takes, default, meaning. */
function optionTable(check: AnyCheck): string {
  const schema = z.toJSONSchema(check.Spec, { io: 'input', unrepresentable: 'any', override: annotate }) as Json;
  const rows = Object.entries(schema.properties ?? {}).flatMap(([name, option]) =>
    name === 'type' ? [] : rowsOf(name, option, schema.required?.includes(name) === true),
  );
  const lines = merged(rows).map((row) => `| ${row.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`);
  return ['| option | value | default | meaning |', '| --- | --- | --- | --- |', ...lines].join('\n');
}

/** Joins rows one after the other that differ in their key only, such as those of the record types of DNS. */
function merged(rows: readonly (readonly string[])[]): string[][] {
  const lines: { names: string[]; rest: readonly string[]; alike: string }[] = [];
  for (const [name = '', value = '', preset = '', meaning = ''] of rows) {
    const key = /\w+(?=`$)/.exec(name)?.[0] ?? '';
    const words = meaning.startsWith(`${key} `) ? meaning.slice(key.length + 1) : '';
    const alike = words === '' ? '' : [value, preset, words].join('|');
    const last = lines.at(-1);
    if (alike !== '' && last?.alike === alike) {
      last.names.push(name);
      last.rest = [value, preset, words.charAt(0).toUpperCase() + words.slice(1)];
    } else lines.push({ names: [name], rest: [value, preset, meaning], alike });
  }
  const listed = (names: readonly string[]) =>
    names.length > 5 ? `${names.slice(0, 3).join(', ')}, … ${names.at(-1)}` : names.join(', ');
  return lines.map(({ names, rest }) => [listed(names), ...rest]);
}

type Annotate = NonNullable<NonNullable<Parameters<typeof z.toJSONSchema>[1]>['override']>;

const annotate: Annotate = ({ zodSchema, jsonSchema }) => {
  const { def } = zodSchema._zod;
  if (def.type === 'default') jsonSchema.default = z.encode(def.innerType, def.defaultValue);
  if (def.type !== 'pipe') return;
  // A codec keeps its bounds to itself, but names them to whoever breaks them.
  for (const tooMuch of ['99999999d', '99999999GB']) {
    const message = z.safeDecode(zodSchema, tooMuch).error?.issues[0]?.message ?? '';
    const kind = tooMuch.endsWith('d') ? 'duration' : 'size';
    const bounds = message.replace(/at least (\S+) and at most /, '$1 to ').replace('from ', '');
    if (message.startsWith('must be ')) jsonSchema['bounds'] = `${kind}, ${bounds.slice('must be '.length)}`;
  }
};

function rowsOf(name: string, option: Json, required: boolean): string[][] {
  const preset = required ? 'required' : defaultOf(option.default);
  const parts = [option, ...(option.anyOf ?? [])].flatMap(({ properties, required = [] }) =>
    Object.entries(properties ?? {}).map(([key, part]) => [key, part, required.includes(key)] as const),
  );
  // The rows below name the keys of a map.
  const value = option.properties === undefined || option.anyOf !== undefined ? valueOf(option) : 'map';
  const own = [`\`${name}\``, value, preset, option.description ?? ''];
  const rest = parts.flatMap(([key, part, isRequired]) => rowsOf(`${name}.${key}`, part, isRequired));
  return [own, ...rest];
}

// What a group is by default, its parts say.
function defaultOf(value: Json['default']): string {
  return value === undefined || typeof value === 'object' ? '' : `\`${value}\``;
}

function valueOf(option: Json): string {
  const { type, anyOf, items, properties, additionalProperties, bounds, minimum, maximum, maxLength } = option;
  if (bounds !== undefined) return bounds;
  if (option.const !== undefined) return `\`${option.const}\``;
  if (option.enum !== undefined) return option.enum.map((one) => `\`${one}\``).join(', ');
  if (anyOf !== undefined) {
    const values = [...new Set(anyOf.map(valueOf))];
    const single = values.filter((one) => !one.startsWith('list of ')).join(' or ');
    return values.join(' or ') === `${single} or list of ${single}`
      ? `${single}, or a list of such`
      : values.join(' or ');
  }
  if (items !== undefined) return `list of ${valueOf(items)}`;
  if (properties !== undefined) return `{ ${Object.keys(properties).join(', ')} }`;
  if (typeof additionalProperties === 'object') return `map of names to ${valueOf(additionalProperties)}`;
  if (type === 'integer' || type === 'number') {
    return minimum === undefined || maximum === undefined ? 'number' : `number, ${minimum} to ${maximum}`;
  }
  if (type === 'string') return maxLength === undefined ? 'text' : `text, max. ${maxLength}`;
  return type === 'boolean' ? '`true`, `false`' : (type ?? 'anything');
}

const endMark = '<!-- end of options -->';

/**
 * The page with the tables of all types written anew between their marks. Throws if a type has no marks, or if what stands between
 * them is more than a table: a mark was deleted or misspelt, and the next one would end the section.
 */
export function withOptionTables(page: string): string {
  return checkTypeNames.reduce((text, type) => {
    const beginMark = `<!-- options of ${type} -->`;
    const refuse = (problem: string): never => {
      throw new Error(
        `docs/checks.md: ${problem}; write "${beginMark}" and "${endMark}" with an empty line after and before`,
      );
    };
    const begin = text.indexOf(beginMark);
    if (begin === -1) return refuse(`the options of ${type} have no marks`);
    if (text.includes(beginMark, begin + 1)) return refuse(`the options of ${type} have two marks`);
    const from = begin + beginMark.length;
    const to = text.indexOf(endMark, from);
    if (to === -1) return refuse(`the options of ${type} have no end`);
    const between = text.slice(from, to).trim();
    if (between.split('\n').some((line) => line !== '' && !line.startsWith('|')))
      return refuse(`between the marks of ${type} stands more than a table`);
    return `${text.slice(0, from)}\n\n${optionTable(checkOf(type))}\n\n${text.slice(to)}`;
  }, page);
}
