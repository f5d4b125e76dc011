import { NewestEntries } from '#kernel/newest-entries.ts';

/** Clients that take connections and ask nothing. */
export interface SilentClients {
  /** A connection of this client has ended, and no whole request had come over it. */
  wasSilent(client: string): void;
  /** A whole request of this client has come. */
  asked(client: string): void;
  /** Whether a connection of it was silent in the last minute, and it has asked nothing since. */
  has(client: string): boolean;
}

const rememberedMs = 60_000;
const mostClients = 10_000;

/** Remembers the last ten thousand. `now` gives milliseconds that only grow. */
export function createSilentClients(now: () => number): SilentClients {
  // When each was silent last.
  const clients = new NewestEntries<string, number>(mostClients);
  return {
    wasSilent: (client) => clients.set(client, now()),
    asked: (client) => clients.delete(client),
    has(client) {
      const at = clients.get(client);
      return at !== undefined && now() - at < rememberedMs;
    },
  };
}
