import type { AgentOptions } from '#node/ports.ts';

export const realModule = new URL('../../src/node/thread.ts', import.meta.url);
/** The entry of a node that does as the host of a check says. */
export const misbehavingModule = new URL('nodes/misbehaving.ts', import.meta.url);

export const agentOptions: AgentOptions = {
  localAddress: {},
  policy: 'private',
  allow: [],
  deny: [],
  knownAs: [],
  running: 10,
  queued: 10,
};
