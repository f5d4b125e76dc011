import { type LoadableType, type LoadedType, nodeTypes } from '#checks/node-types.ts';
import { endsWithin } from '#kernel/clock.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Capabilities } from './ports.ts';

type Environment = Parameters<LoadedType['start']>[0];
type OpenProber = Awaited<ReturnType<LoadedType['start']>>;

/** The check types of a node: each is loaded and started once, when it is first needed. */
export interface Probers {
  /** What each type can do here, found out by trying where that is not the same everywhere. */
  capabilities(): Promise<Capabilities>;
  /** The prober of a type that is started; undefined before that. */
  opened(type: string): OpenProber | undefined;
  /** Loads and starts a type; null if nodes do not run it. Rejects if it cannot be opened, or is not within 20 seconds. */
  open(type: string): Promise<OpenProber | null>;
  /** Closes them all, each for two seconds at most. */
  close(): Promise<void>;
}

export interface ProberOptions {
  /** Takes what a check type does not do, and should. */
  readonly warn?: ((problem: string) => void) | undefined;
  /** By name; default: those that nodes run. */
  readonly types?: ReadonlyMap<string, LoadableType>;
}

// Loading takes seconds on a small machine that is busy.
const openMs = 20_000;
// A node that stops has three.
const closeMs = 2_000;

export function createProbers(
  environment: Environment,
  { warn = () => {}, types = nodeTypes }: ProberOptions = {},
): Probers {
  const { clock } = environment;
  const opening = new Map<string, Promise<OpenProber>>();
  const open = new Map<string, OpenProber>();
  /** Those that were waited for in vain: nothing waits for them again until they are open. */
  const hanging = new Set<string>();
  let isClosed = false;

  async function start(type: string, load: () => Promise<LoadedType>): Promise<OpenProber> {
    try {
      const prober = await (await load()).start(environment);
      open.set(type, prober);
      if (isClosed) await closeInTime(type, prober);
      return prober;
    } catch (error) {
      opening.delete(type);
      throw error;
    } finally {
      hanging.delete(type);
    }
  }

  async function openType(type: string): Promise<OpenProber | null> {
    const known = types.get(type);
    if (known === undefined) return null;
    const pending = opening.get(type) ?? start(type, known.load);
    opening.set(type, pending);
    const opened = async () => void (await pending);
    if (!hanging.has(type) && (await endsWithin(opened(), clock, openMs))) return pending;
    const problem = `it was not open within ${openMs / 1_000} s`;
    if (!hanging.has(type)) warn(`cannot open the check type ${type}: ${problem}`);
    hanging.add(type);
    throw new Error(problem);
  }

  async function capabilityOf(type: string): Promise<OpenProber['capability']> {
    try {
      const prober = types.get(type)?.isAbleEverywhere === true ? null : await openType(type);
      return prober?.capability ?? { able: true };
    } catch (error) {
      // The others go on without it.
      const reason = messageOf(error);
      if (!hanging.has(type)) warn(`cannot open the check type ${type}: ${reason}`);
      return { able: false, reason };
    }
  }

  async function closeInTime(type: string, prober: OpenProber): Promise<void> {
    try {
      if (await endsWithin(prober.close(), clock, closeMs)) return;
      warn(`cannot close the check type ${type}: it was not closed within ${closeMs / 1_000} s`);
    } catch (error) {
      warn(`cannot close the check type ${type}: ${messageOf(error)}`);
    }
  }

  return {
    async capabilities() {
      const able: [string, OpenProber['capability']][] = [];
      for (const type of types.keys()) able.push([type, await capabilityOf(type)]);
      return Object.fromEntries(able);
    },
    opened: (type) => open.get(type),
    open: openType,
    async close() {
      isClosed = true;
      await Promise.all([...open].map(async ([type, prober]) => closeInTime(type, prober)));
    },
  };
}
