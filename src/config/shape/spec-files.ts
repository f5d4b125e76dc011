import { z } from 'zod';
import { checkOf, CheckSpec } from '#checks/index.ts';

/** Reads the file that an option of a check names; null if that has been complained about. */
export type NamedFileReader = (option: readonly string[], file: string) => Promise<string | null>;

/**
 * A spec with what the files hold that it names: `password_file` becomes `password`. In words what is wrong if that is no spec;
 * null if a file could not be read.
 */
export async function withFiles(spec: CheckSpec, read: NamedFileReader): Promise<CheckSpec | string | null> {
  const named = checkOf(spec.type).files.flatMap((option) => {
    const file = valueAt(spec, option);
    return typeof file === 'string' ? [{ option, file }] : [];
  });
  if (named.length === 0) return spec;
  let filled: unknown = z.encode(CheckSpec, spec);
  for (const { option, file } of named) {
    const text = await read(option, file);
    if (text === null) return null;
    filled = exchanged(filled, option, text.replace(/\r?\n$/, ''));
  }
  const parsed = CheckSpec.safeParse(filled);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  return `the file that gives ${issue?.path.join('.') ?? 'it'} holds something else: ${issue?.message ?? 'it is invalid'}`;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((tree, key) => (isTree(tree) ? tree[key] : undefined), value);
}

function exchanged(value: unknown, [key = '', ...rest]: readonly string[], text: string): unknown {
  if (!isTree(value)) return value;
  const { [key]: old, ...others } = value;
  return rest.length === 0
    ? { ...others, [key.slice(0, -'_file'.length)]: text }
    : { ...others, [key]: exchanged(old, rest, text) };
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
