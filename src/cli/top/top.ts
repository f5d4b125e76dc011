import { z } from 'zod';
import { loadConfig } from '#config/load.ts';
import { sleep, systemClock } from '#kernel/clock.ts';
import { messageOf, WatchpostError } from '#kernel/errors.ts';
import { askDaemon } from '../shared/ask-daemon.ts';
import { jsonText } from '../shared/json.ts';
import { paintOf } from '../shared/paint.ts';
import { firstView, pageOf, screenOf, TopState, tableOf, viewAfter } from './top-screen.ts';
import type { CommandContext } from '../shared/command-context.ts';

export interface TopOptions {
  readonly config: string;
  readonly json?: boolean;
}

const StatesAnswer = z.object({ version: z.number(), names: z.array(z.string()), states: z.array(TopState) });
type StatesAnswer = z.output<typeof StatesAnswer>;

const lookEveryMs = 1_000;

/**
 * The states of all targets of the running daemon, as they change, until `q` or an interrupt. If no person looks on a terminal it
 * is a table, once. Exit code 1 if a target is down then.
 */
export async function showTop({ config: path, json }: TopOptions, context: CommandContext): Promise<number> {
  const config = await loadConfig({ path, env: context.env });
  const ask = async (since: number) => StatesAnswer.parse(await askDaemon(config, `/-/states?since=${since}`));
  const first = await ask(0);
  if (json !== true && context.terminal !== null) return follow(first, ask, { ...context, terminal: context.terminal });
  if (json === true) context.print(jsonText(first.states));
  else context.print(`${tableOf(first.states, systemClock.now(), paintOf(context)).join('\n')}\n`);
  return first.states.some(({ status }) => status === 'down') ? 1 : 0;
}

type TerminalContext = CommandContext & { readonly terminal: NonNullable<CommandContext['terminal']> };

async function follow(
  first: StatesAnswer,
  ask: (since: number) => Promise<StatesAnswer>,
  context: TerminalContext,
): Promise<number> {
  const { terminal, print } = context;
  const paint = paintOf(context);
  const leaving = new AbortController();
  const over = AbortSignal.any([leaving.signal, context.stop]);
  let known = new Map(first.states.map((state) => [state.target, state]));
  let { version } = first;
  let view = firstView;
  let trouble: string | null = null;
  let looks = 0;

  function draw(): void {
    const { columns, rows } = terminal.size();
    const look = { states: [...known.values()], view, columns, rows, now: systemClock.now(), trouble };
    // From the first line on, each over what was there, and nothing left below.
    print(
      `\u{1b}[H${screenOf(look, paint)
        .map((line) => `${line}\u{1b}[K`)
        .join('\r\n')}\u{1b}[J`,
    );
  }

  async function look(): Promise<void> {
    try {
      // All of them from time to time: a target that was not checked for too long changes its state by time alone.
      looks += 1;
      const answer = await ask(looks % 30 === 0 ? 0 : version);
      const changed = new Map(answer.states.map((state) => [state.target, state]));
      known = new Map(
        answer.names.flatMap((name) => {
          const state = changed.get(name) ?? known.get(name);
          return state === undefined ? [] : [[name, state] as const];
        }),
      );
      ({ version } = answer);
      trouble = null;
    } catch (error) {
      if (!(error instanceof WatchpostError)) throw error;
      trouble = `nothing new: ${messageOf(error)}`;
    }
  }

  print('\u{1b}[?1049h\u{1b}[?25l');
  using open = new DisposableStack();
  const hear = (key: string) => {
    const next = viewAfter(view, key, pageOf(terminal.size().rows));
    if (next === null) return leaving.abort(new Error('the user has quit'));
    view = next;
    draw();
  };
  open.use(terminal.onKey(hear));
  open.use(terminal.onResize(draw));
  try {
    while (!over.aborted) {
      draw();
      await sleep(systemClock, lookEveryMs, over);
      await look();
    }
  } catch (error) {
    if (!over.aborted) throw error;
  } finally {
    print('\u{1b}[?25h\u{1b}[?1049l');
  }
  return 0;
}
