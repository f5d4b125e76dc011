import type { CommandShape } from '../shared/commands.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

/** A script that completes commands, options and their choices in a shell. */
export function completionOf(shapes: readonly CommandShape[], shell: Shell): string {
  return { bash, zsh, fish }[shell](shapes);
}

const wordsOf = ({ below, options }: CommandShape) => [...below, ...options.flatMap(({ names }) => names)].join(' ');

// A file where an option takes a value that is no choice, the words of the command otherwise.
function bash(shapes: readonly CommandShape[]): string {
  const words = shapes.map((shape) => `    "${shape.path}") words="${wordsOf(shape)}" ;;`);
  const groups = shapes.filter(({ below }) => below.length > 0).map(({ path }) => `"${path}"`);
  return `# bash completion of watchpost: watchpost completion bash > /etc/bash_completion.d/watchpost
_watchpost() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} path='' words='' i
  for ((i = 1; i < COMP_CWORD; i++)); do
    [[ \${COMP_WORDS[i]} == -* ]] && break
    case "$path" in
    ${groups.join(' | ')}) path="\${path:+$path }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$before" in
${choicesOf(shapes)
  .map(([name, choices]) => `    ${name}) mapfile -t COMPREPLY < <(compgen -W "${choices}" -- "$word"); return ;;`)
  .join('\n')}
    ${filesOf(shapes).join(' | ')}) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
  esac
  case "$path" in
${words.join('\n')}
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _watchpost watchpost
`;
}

function zsh(shapes: readonly CommandShape[]): string {
  return `#compdef watchpost
# zsh completion of watchpost: watchpost completion zsh > "\${fpath[1]}/_watchpost"
autoload -U +X bashcompinit && bashcompinit
${bash(shapes)
  .split('\n')
  .slice(1)
  .join('\n')
  .replaceAll(/mapfile -t COMPREPLY < <\((.*?)\)(;|$)/gm, 'COMPREPLY=($($1))$2')}`;
}

function fish(shapes: readonly CommandShape[]): string {
  const lines = shapes.flatMap((shape) => {
    const seen = shape.path === '' ? '__fish_use_subcommand' : `__watchpost_at ${shape.path}`;
    const commands = shape.below.map((name) => {
      const below = shapes.find(({ path }) => path === `${shape.path} ${name}`.trim());
      return `complete -c watchpost -n '${seen}' -f -a ${name} -d ${quoted(below?.description ?? '')}`;
    });
    const options = shape.options.map(({ names, description, choices, takesValue }) => {
      const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
      const value = choices.length > 0 ? ` -xa ${quoted(choices.join(' '))}` : takesValue ? ' -r' : '';
      return `complete -c watchpost -n '${seen}' ${flags.join(' ')}${value} -d ${quoted(description)}`;
    });
    return [...commands, ...options];
  });
  return `# fish completion of watchpost: watchpost completion fish > ~/.config/fish/completions/watchpost.fish
function __watchpost_at
  set -l words (commandline -opc | string match -v -- '-*')
  test (count $words) -gt (count $argv); or return 1
  test "$words[2..(math (count $argv) + 1)]" = "$argv"
end
${lines.join('\n')}
`;
}

function choicesOf(shapes: readonly CommandShape[]): readonly (readonly [names: string, choices: string])[] {
  const found = new Map<string, string>();
  for (const { options } of shapes) {
    for (const { names, choices } of options) if (choices.length > 0) found.set(names.join(' | '), choices.join(' '));
  }
  return [...found];
}

function filesOf(shapes: readonly CommandShape[]): readonly string[] {
  const named = shapes.flatMap(({ options }) =>
    options.filter(({ flags }) => /<(?:path|file)>/.test(flags)).flatMap(({ names }) => names),
  );
  return [...new Set(named)];
}

const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`;
