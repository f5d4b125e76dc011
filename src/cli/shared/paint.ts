import { styleText } from 'node:util';
import type { CommandContext } from './command-context.ts';

const colours = {
  up: 'green',
  down: 'red',
  partial: 'yellow',
  unknown: 'yellow',
  maintenance: 'blue',
  critical: 'red',
  warning: 'yellow',
  dead: 'red',
  pending: 'yellow',
} as const;

/** A word in the colour of a state, severity or delivery; uncoloured if the output is no terminal or `NO_COLOR` is set. */
export type StateColor = (state: string, word?: string) => string;

export function paintOf({ interactive, env }: Pick<CommandContext, 'interactive' | 'env'>): StateColor {
  const isPlain = !interactive || (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const known = new Map<string, (typeof colours)[keyof typeof colours]>(Object.entries(colours));
  return (state, word = state) => {
    const colour = isPlain ? undefined : known.get(state);
    return colour === undefined ? word : styleText(colour, word, { validateStream: false });
  };
}
