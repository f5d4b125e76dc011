import { isScalar, parseDocument } from 'yaml';
import { z } from 'zod';
import { checkOf, checkTypeNames } from '#checks/index.ts';
import { Secret } from '#kernel/secret.ts';
import { formatDuration } from '#kernel/units.ts';
import { Rule } from '#monitor/judge/rule.ts';
import type { ValidatedTarget } from './config.ts';
import { asksForeignService } from './shape/foreign-service.ts';
import { type SourceNode, written } from './read/located.ts';
import { ConfigFile } from './shape/schema.ts';

type PrintSchema = z.core.$ZodType;
type ConfigTree = Readonly<Record<string, unknown>>;

/** What stands in the place of a secret. */
export const mask = '[secret]';

/** A configuration that was found good, in all its parts. */
export interface WholeFile {
  /** What was written, without its short forms. */
  readonly root: SourceNode;
  readonly file: ConfigFile;
  readonly targets: readonly ValidatedTarget[];
}

/**
 * The configuration with all defaults written out, each target by itself. Secrets are masked, and what
 * comes from the environment is shown as its variable. It is accepted as a configuration again, but for the masks.
 */
export function spelledConfig({ root, file, targets }: WholeFile): ConfigTree {
  const whole = treeOf(spelled(ConfigFile(), root.value, root, []));
  const defaults = without(treeOf(whole['defaults']), checkTypeNames);
  const own = treeOf(whole['targets']);
  const spelledTargets = targets.map((target) => [
    target.name,
    spelledTarget(target, treeOf(own[target.name]), defaults),
  ]);
  const rules = { down: Rule.parse({}), ...file.rules };
  return {
    // What these say stands in each target; and the nodes of another service are its own.
    ...without(whole, ['groups', 'targets_from', ...(asksForeignService(root) ? ['nodes', 'evidence'] : [])]),
    defaults,
    ...(targets.length === 0 ? {} : { targets: Object.fromEntries(spelledTargets) }),
    rules: Object.fromEntries(Object.entries(rules).map(([name, rule]) => [name, z.encode(Rule, rule)])),
  };
}

function spelledTarget({ spec, keys }: ValidatedTarget, own: ConfigTree, defaults: ConfigTree): ConfigTree {
  const { every, timezone, nodes, rules, notify } = defaults;
  const when = keys.cron === undefined ? { every } : { timezone };
  // A default timeout may be shorter than the default of its type.
  const timeout = 'timeout' in spec ? { timeout: formatDuration(spec.timeout) } : {};
  const { check, host, ...rest } = own;
  const where = checkOf(spec.type).heard === null ? { nodes } : {};
  return { check, host, ...when, ...where, rules, notify, ...rest, ...timeout };
}

function spelled(schema: PrintSchema, value: unknown, here: SourceNode | null, path: readonly string[]): unknown {
  if (schema instanceof z.ZodDefault) {
    return value === undefined
      ? z.encode(schema.def.innerType, schema.def.defaultValue)
      : spelled(schema.def.innerType, value, here, path);
  }
  if (schema instanceof z.ZodPrefault)
    return spelled(schema.def.innerType, value ?? schema.def.defaultValue, here, path);
  if (value === undefined) return undefined;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return spelled(schema.def.innerType, value, here, path);
  if (schema instanceof z.ZodUnion) {
    const form = schema.options.find((option) => z.safeParse(option, value).success);
    return form === undefined ? leafOf(schema, value, here, path) : spelled(form, value, here, path);
  }
  if (Array.isArray(value)) {
    const entry: PrintSchema = schema instanceof z.ZodArray ? schema.element : z.unknown();
    return value.map((one, index) => spelled(entry, one, childOf(here, String(index)), path));
  }
  if (!isTree(value)) return leafOf(schema, value, here, path);
  const shape: Readonly<Record<string, PrintSchema>> = schema instanceof z.ZodObject ? schema.shape : {};
  const each: PrintSchema = schema instanceof z.ZodRecord ? schema.valueType : z.unknown();
  const names = new Set([...Object.keys(shape), ...Object.keys(value)]);
  const parts = [...names].map((name) => {
    const part = spelled(shape[name] ?? each, value[name], childOf(here, name), [...path, name]);
    return [name, part] as const;
  });
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

// What targets give to flows and plugins is hidden whatever its name: mostly it is there to sign in.
const secretKey = /^(?:password|password_hash|token|bearer|key|client_secret)$/;
const secretHeader = /auth|cookie|token|secret|password|key/i;

/** Whether what stands at this path is a secret by its name. */
export const isSecretPath = (path: readonly string[]): boolean =>
  secretKey.test(path.at(-1) ?? '') ||
  path.at(-2) === 'values' ||
  (path.at(-2) === 'headers' && secretHeader.test(path.at(-1) ?? ''));

/** A text without what stands before the @ of an address. */
export const withoutLogin = (text: string): string => text.replace(/\/\/[^/@\s]*@/, `//${mask}@`);

function leafOf(schema: PrintSchema, value: unknown, here: SourceNode | null, path: readonly string[]): unknown {
  const isSecret = isSecretPath(path) || z.safeParse(schema, value).data instanceof Secret;
  const variable = here?.expanded === true ? variableIn(here) : null;
  if (variable !== null && !(isSecret && variable.includes(':-'))) return variable;
  if (isSecret || here?.expanded === true) return mask;
  if (typeof value !== 'string') return value;
  return withoutLogin(value.replaceAll('${', () => '$${'));
}

// The text with the names of its variables, as in the file.
function variableIn({ spot }: SourceNode): string | null {
  const { contents, errors } = parseDocument(written(spot));
  return errors.length === 0 && isScalar(contents) && typeof contents.value === 'string' ? contents.value : null;
}

const childOf = (here: SourceNode | null, name: string) => here?.children.get(name) ?? null;

const isTree = (value: unknown): value is ConfigTree => typeof value === 'object' && value !== null;

const treeOf = (value: unknown): ConfigTree => (isTree(value) ? value : {});

const without = (tree: ConfigTree, names: readonly string[]): ConfigTree =>
  Object.fromEntries(Object.entries(tree).filter(([name]) => !names.includes(name)));
