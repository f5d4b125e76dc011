import { existsSync } from 'node:fs';
import { resolve } from 'node:path';

/** Where a configuration is looked for, in this order. */
export const places = [
  'watchpost.yaml',
  'config/watchpost.yaml',
  '/etc/watchpost/watchpost.yaml',
  '/config/watchpost.yaml',
] as const;

/** The first of these places that has one, or undefined. */
export function placeFound(cwd: string): string | undefined {
  return places.find((place) => existsSync(resolve(cwd, place)));
}
