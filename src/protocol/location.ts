import { z } from 'zod';

const asHint = 'expected the number of an autonomous system, such as 3320';

/** Where a node is: all that is given must fit. */
export const ApiLocation = z
  .strictObject({
    country: z
      .string()
      .regex(/^[a-z]{2}$/i, { error: 'expected a country code of two letters, such as "DE"' })
      .optional()
      .describe('Country code (ISO 3166-1), such as "DE".'),
    as: z
      .union([z.int().min(1).max(4_294_967_295), z.string().regex(/^(?:as)?\d{1,10}$/i, { error: asHint })], {
        error: asHint,
      })
      .optional()
      .describe('Autonomous system, such as 3320 or "AS3320".'),
    city: z.string().min(1).max(100).optional().describe('City, such as "Berlin"; case and accents do not matter.'),
  })
  .refine((location) => Object.keys(location).length > 0, { error: 'expected a country, an as or a city' });
export type ApiLocation = z.infer<typeof ApiLocation>;
