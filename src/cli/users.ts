import type { Command } from 'commander';
import { WatchpostError } from '#kernel/errors.ts';
import { hashPassword } from '#kernel/password.ts';
import { jsonText } from './shared/json.ts';
import type { CommandContext } from './shared/command-context.ts';

const shortest = 8;

/** Commands about who may sign in. */
export function addUserCommands(program: Command, context: CommandContext): void {
  const users = program.command('users').description('users who may sign in to the pages');
  users
    .command('hash')
    .description('read a password from standard input and print its hash for http.users')
    .option('--json', 'print JSON')
    .action(async ({ json }: { readonly json?: boolean }) => {
      const password = (await context.readLine('Password: ')).trim();
      if (password.length < shortest)
        throw new WatchpostError('usage', `a password has at least ${shortest} characters`);
      const hash = await hashPassword(password);
      context.print(json === true ? jsonText({ password_hash: hash }) : `${hash}\n`);
    });
}
