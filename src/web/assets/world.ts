import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { DrawnWorld } from './drawn-world.ts';

export interface WorldMap {
  /** The land, as an image. */
  readonly image: string;
  /** Where the middle of a country (two small letters) is on the map, or null where it is not known. */
  placeOf(countryCode: string): readonly [x: number, y: number] | null;
}

// Only what was built has it (`.ci/bundle.ts`).
const drawn = new URL('world.json', import.meta.url);

/** The map of the world: as it was drawn when this program was built, or drawn now in a checkout. */
export async function loadWorld(): Promise<WorldMap> {
  const { image, places } = existsSync(drawn) ? await readDrawn() : await drawNow();
  return {
    image,
    placeOf: (countryCode) => (Object.hasOwn(places, countryCode) ? (places[countryCode] ?? null) : null),
  };
}

async function readDrawn(): Promise<DrawnWorld> {
  return DrawnWorld.parse(JSON.parse(await readFile(drawn, 'utf8')));
}

async function drawNow(): Promise<DrawnWorld> {
  const { drawWorld } = await import('./draw-world.ts');
  return drawWorld();
}
