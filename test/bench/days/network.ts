import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

// Everything of a day happens in namespaces of its own: targets, name server and mail server in the one that the driver runs in, all
// monitors in another, and one link between them.

const home = 'home';
export const gateway = '10.9.0.2';
export const mailHost = '10.20.1.25';
export const nameServer = '10.20.1.53';
export const addressOf = (index: number) => `10.20.0.${index + 1}`;

const run = (...[program, ...args]: readonly [string, ...string[]]) => void execFileSync(program, args);

/** Takes the words of a command and returns those that run it where the monitors are. */
export const atHome = (words: readonly string[]): readonly [string, ...string[]] => [
  'ip',
  'netns',
  'exec',
  home,
  ...words,
];

/** Makes the second namespace and the link. Names of namespaces live in /run, so that needs to be private as well. */
export function createNetwork(): void {
  mkdirSync('/run/netns', { recursive: true });
  run('mount', '-t', 'tmpfs', 'tmpfs', '/run/netns');
  run('ip', 'link', 'set', 'lo', 'up');
  run('ip', 'netns', 'add', home);
  run(...atHome(['ip', 'link', 'set', 'lo', 'up']));
  run('ip', 'link', 'add', 'far', 'type', 'veth', 'peer', 'name', 'near', 'netns', home);
  run('ip', 'address', 'add', `${gateway}/24`, 'dev', 'far');
  run('ip', 'link', 'set', 'far', 'up');
  run(...atHome(['ip', 'address', 'add', '10.9.0.1/24', 'dev', 'near']));
  run(...atHome(['ip', 'link', 'set', 'near', 'up']));
  run(...atHome(['ip', 'route', 'add', 'default', 'via', gateway]));
  for (const address of [mailHost, nameServer]) setAddress('add', address);
}

/** Adds an address to this side, or takes it away. */
export function setAddress(what: 'add' | 'del', address: string): void {
  run('ip', 'address', what, `${address}/32`, 'dev', 'lo');
}

/** Plugs the cable in or out at the far end: the monitors' interface has no carrier then. */
export function setLink(state: 'up' | 'down'): void {
  run('ip', 'link', 'set', 'far', state);
}
