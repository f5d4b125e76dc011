/** How a wait for a change ended: with one, with nothing more to come, or because it could not begin. */
export type WatchEnd = 'changed' | 'ended' | { readonly trouble: string };

/** Waits until a list has changed. Rejects only with the signal's reason. */
export type WatchList = (signal: AbortSignal) => Promise<WatchEnd>;
