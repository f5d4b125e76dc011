import { z } from 'zod';

/** The size of the map in its own units. */
export const worldSize = { width: 960, height: 420 } as const;

/** The map as it is drawn: an image, and the middle of each country by its two small letters. */
export const DrawnWorld = z.object({
  image: z.string(),
  places: z.record(z.string(), z.tuple([z.number(), z.number()]).readonly()),
});
export type DrawnWorld = z.infer<typeof DrawnWorld>;
