/** The name of a command and its arguments. */
export function wordsOf(command: string): readonly string[] {
  return command.trim().split(/\s+/);
}
