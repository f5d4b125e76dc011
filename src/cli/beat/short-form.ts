const commands: readonly string[] = ['run', 'new', 'help', '-h', '--help'];

/**
 * The arguments of the program with `beat JOB` as what it is short for, `beat run JOB`. The reader of arguments would look for `--help`
 * among the words of the job's command as well, show help and never run it.
 */
export function inFull(args: readonly string[]): readonly string[] {
  const [name, first, ...rest] = args;
  return name !== 'beat' || first === undefined || commands.includes(first) ? args : ['beat', 'run', first, ...rest];
}
