import { type LoadedType, nodeTypeNames, nodeTypeOf } from '#checks/node-types.ts';
import type { Capabilities } from './ports.ts';

type Environment = Parameters<LoadedType['start']>[0];
type OpenProber = Awaited<ReturnType<LoadedType['start']>>;

/** The check types of a node: each is loaded and started once, when it is first needed. */
export interface Probers {
  /** What each type can do here, found out by trying where that is not the same everywhere. */
  capabilities(): Promise<Capabilities>;
  /** The prober of a type that is started; undefined before that. */
  opened(type: string): OpenProber | undefined;
  /** Loads and starts a type; null if nodes do not run it. */
  open(type: string): Promise<OpenProber | null>;
  close(): Promise<void>;
}

export function createProbers(environment: Environment): Probers {
  const opening = new Map<string, Promise<OpenProber>>();
  const open = new Map<string, OpenProber>();

  async function start(type: string, load: () => Promise<LoadedType>): Promise<OpenProber> {
    try {
      const prober = await (await load()).start(environment);
      open.set(type, prober);
      return prober;
    } catch (error) {
      opening.delete(type);
      throw error;
    }
  }

  async function openType(type: string): Promise<OpenProber | null> {
    const known = nodeTypeOf(type);
    if (known === null) return null;
    const pending = opening.get(type) ?? start(type, known.load);
    opening.set(type, pending);
    return pending;
  }

  return {
    async capabilities() {
      const able: [string, OpenProber['capability']][] = [];
      for (const type of nodeTypeNames) {
        const prober = nodeTypeOf(type)?.isAbleEverywhere === true ? null : await openType(type);
        able.push([type, prober?.capability ?? { able: true }]);
      }
      return Object.fromEntries(able);
    },
    opened: (type) => open.get(type),
    open: openType,
    async close() {
      for (const prober of await Promise.allSettled(opening.values()))
        if (prober.status === 'fulfilled') await prober.value.close();
    },
  };
}
