import type { Incident } from './incident.ts';

/** How an incident is talked about. */
export interface Phrases {
  /** In the subject. */
  readonly word: string;
  /** The label of the time that it lasted. */
  readonly noun: string;
  readonly is: string;
  readonly was: string;
  readonly again: string;
  readonly began: string;
  readonly ended: string;
}

const down: Phrases = {
  word: 'DOWN',
  noun: 'Down',
  is: 'is down',
  was: 'was down',
  again: 'up again',
  began: 'went down',
  ended: 'came back',
};

/** `is still down`, `still loses packets`. */
export function still(is: string): string {
  return is.startsWith('is ') ? `is still ${is.slice(3)}` : `still ${is}`;
}

export function phrasesOf(_incident: Incident): Phrases {
  return down;
}
