/** How long gathering may take, in milliseconds. */
export const gatherMs = 10_000;

/** The most bytes of a body or of what was received that are retained. */
export const retainedBytes = 1_024;
