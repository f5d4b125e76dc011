import { z } from 'zod';
import { parseThresholdRange } from './threshold-range.ts';

/** A threshold range as a text of the configuration. */
export const ThresholdText = z
  .union([z.string().max(64), z.number().transform(String)])
  .refine((text) => parseThresholdRange(text) !== null, {
    error: 'expected a threshold range as plugins write it, such as "10", "10:", "~:10", "10:20" or "@10:20"',
  });
