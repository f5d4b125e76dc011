import { nearest } from '#kernel/wording.ts';

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>;

export interface ExpandedText {
  readonly text: string;
  /** True if a variable, or its default, is part of the text. */
  readonly changed: boolean;
  readonly faults: readonly { readonly written: string; readonly message: string }[];
}

// `$${` stands for `${`; everything else that begins with `${` has to be a variable.
const pattern = /\$\$\{|\$\{(?:([A-Za-z_]\w*)(?::-([^}]*))?\})?/g;

/**
 * Replaces `${NAME}` by the variable, `${NAME:-text}` by the text if the variable is unset or empty, and `$${` by `${`.
 * A variable that is not set is a fault.
 */
export function expand(written: string, env: EnvironmentVariables): ExpandedText {
  const faults: { written: string; message: string }[] = [];
  let changed = false;
  const text = written.replaceAll(pattern, (found: string, name?: string, fallback?: string) => {
    if (found === '$${') return '${';
    if (name === undefined) {
      faults.push({ written: found, message: 'expected ${NAME} or ${NAME:-default}; write $${ for a plain ${' });
      return '';
    }
    changed = true;
    const value = env[name];
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value === undefined) faults.push({ written: found, message: unset(name, env) });
    return value ?? '';
  });
  return { text, changed, faults };
}

function unset(name: string, env: EnvironmentVariables): string {
  const near = nearest(name, Object.keys(env));
  const hint = near === null ? '' : ` (did you mean "${near}"?)`;
  return `the environment variable ${name} is not set; set it, or write \${${name}:-default}${hint}`;
}
