const placeholder = /\{([a-z][a-z0-9_]{0,31})\}/gi;

export type { PluginCommands } from './command-schemas.ts';

/**
 * The arguments of a command line with the placeholders filled in. Each placeholder stays within its argument. In words what is
 * missing, or which value would be read as an option.
 */
export function argumentsOf(
  template: readonly string[],
  values: Readonly<Record<string, string | null>>,
): readonly string[] | string {
  const filled: string[] = [];
  for (const part of template) {
    let problem: string | null = null;
    const argument = part.replaceAll(placeholder, (_, key: string, offset: number) => {
      const value = Object.hasOwn(values, key) ? values[key] : undefined;
      if (value === undefined) problem ??= `the plugin needs the value "${key}": set it in values`;
      else if (value === null) problem ??= `the plugin needs a port: set port`;
      else if (offset === 0 && value.startsWith('-')) problem ??= `${key} must not begin with "-" here`;
      return value ?? '';
    });
    if (problem !== null) return problem;
    filled.push(argument);
  }
  return filled;
}
