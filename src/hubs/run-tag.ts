import { createHash } from 'node:crypto';

// Identifiers of checks begin with four letters and digits of the hub that keeps them, so that every hub knows which one to ask.

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const tagLength = 4;

/** What identifiers of the checks of this hub begin with. */
export function runTag(hub: string): string {
  const bytes = createHash('sha256').update(hub).digest().subarray(0, tagLength);
  return [...bytes].map((byte) => alphabet.charAt(byte % alphabet.length)).join('');
}

const runPath =
  /^\/(?:check-result(?:-extended)?|check-report|api\/v1\/checks)\/([0-9A-Za-z]{4})[0-9A-Za-z]{20}(?![0-9A-Za-z])/;

/** The tag of the hub that keeps the check that a path names; null if it names none, or one from before there were several hubs. */
export const tagOfPath = (path: string): string | null => runPath.exec(path)?.[1] ?? null;
