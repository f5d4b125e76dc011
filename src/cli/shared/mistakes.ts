import { Command, InvalidArgumentError } from 'commander';
import { WatchpostError } from '#kernel/errors.ts';

/**
 * A command that tells every mistake of a command line at once: commander ends at the first. Nothing is done before all the
 * words are looked at.
 */
export function createPatientCommand(name: string): Command {
  const mistakes: string[] = [];
  const program = new PatientCommand(name, mistakes);
  program.hook('preAction', () => {
    if (mistakes.length > 0) throw new WatchpostError('usage', mistakes.join('\n'));
  });
  return program;
}

class PatientCommand extends Command {
  readonly #mistakes: string[];
  #unknown: readonly string[] = [];

  constructor(name: string, mistakes: string[]) {
    super(name);
    this.#mistakes = mistakes;
  }

  override createCommand(name?: string): Command {
    return new PatientCommand(name ?? '', this.#mistakes);
  }

  override parseOptions(args: string[]): ReturnType<Command['parseOptions']> {
    const parsed = this.parent === null ? this.#parseOptionsOfProgram(args) : super.parseOptions(args);
    this.#unknown = this.#ownOf(parsed.unknown).filter((word) => word.startsWith('-') && word !== '-');
    return parsed;
  }

  // Behind an unknown option commander would look for the program's own among the words of a command: `--version`, too.
  #parseOptionsOfProgram(args: string[]): ReturnType<Command['parseOptions']> {
    const own = leadingOptions(args);
    const rest = args.slice(own.length);
    const { unknown } = super.parseOptions(own);
    return unknown.length > 0 ? { operands: [], unknown: [...unknown, ...rest] } : super.parseOptions(rest);
  }

  // Of words that commander has not recognised: those that can be options of this command, and not of one below it or of another program.
  #ownOf(unknown: string[]): string[] {
    const passesWordsOn = this.commands.length > 0 || Reflect.get(this, '_passThroughOptions') === true;
    return passesWordsOn ? leadingOptions(unknown) : wordsBefore((word) => word === '--', unknown);
  }

  /** Called by commander with the unknown words, also those of other programs: a command that is never run must not end with 0. */
  _outputHelpIfRequested(unknown: string[]): void {
    const isUnknownCommand = this.commands.length > 0 && this.args.length > unknown.length;
    const own = isUnknownCommand ? [] : this.#ownOf(unknown);
    Reflect.apply(Reflect.get(Command.prototype, '_outputHelpIfRequested'), this, [own]);
  }

  override error(message: string, options?: Parameters<Command['error']>[1]): never {
    const isLast = options?.code === 'commander.unknownCommand' || this.#mistakes.length > 50;
    // What follows an unknown option may be its value.
    const isOfWords = options?.code === 'commander.excessArguments' || message.includes('command-argument value');
    const isGuess = isOfWords && this.#unknown.length > 0;
    // An option that lacks its value was reported already.
    const isListed = this.#mistakes.includes(
      message.replace(/^error: required (.*) not specified$/, '$1 argument missing'),
    );
    if (!isGuess && !isListed) this.#mistakes.push(message.replace(/^error: /, ''));
    if (isLast) throw new WatchpostError('usage', this.#mistakes.join('\n'));
    // Commander goes on where this returns, which its types do not foresee.
    return undefined as never; // oxlint-disable-line typescript/no-unsafe-type-assertion
  }

  /** Called by commander for a value that has to be parsed: a wrong one was passed to `error`, and the rest is looked at. */
  _callParseArg(...args: readonly unknown[]): unknown {
    try {
      const parsed: unknown = Reflect.apply(Reflect.get(Command.prototype, '_callParseArg'), this, args);
      return parsed;
    } catch (error) {
      if (error instanceof InvalidArgumentError) return undefined;
      throw error;
    }
  }

  /** Called by commander with the first of the unknown options: tells all of them. */
  unknownOption(first: string): void {
    for (const flag of new Set([first, ...this.#unknown])) {
      // The words, with "did you mean", are commander's own.
      Reflect.apply(Reflect.get(Command.prototype, 'unknownOption'), this, [flag]);
    }
    // Commander would show help instead if this has only commands below it.
    if (this.commands.length > 0 && !Reflect.get(this, '_actionHandler'))
      throw new WatchpostError('usage', `${this.#mistakes.join('\n')}\n(options of a command come after its name)`);
  }
}

function wordsBefore(isEnd: (word: string) => boolean, words: string[]): string[] {
  const end = words.findIndex(isEnd);
  return end < 0 ? words : words.slice(0, end);
}

const leadingOptions = (words: string[]) => wordsBefore((word) => !/^-./.test(word) || word === '--', words);
