import { z } from 'zod';
import { MeasuredValue } from '../measured-value.ts';
import { states } from './states.ts';

/** What a plugin said (Monitoring Plugins Development Guidelines, "Plugin Output for Nagios"). */
export const Detail = z.strictObject({
  state: z.enum(states),
  /** The first line of its output, without performance data. */
  text: z.string().max(200),
  /** Further lines. */
  more: z.array(z.string().max(200)).max(20),
  /** Its performance data. */
  values: z.array(MeasuredValue).max(50),
  /** How many performance data there were beyond these, or that could not be read. */
  omitted: z.int().min(0),
});
export type Detail = z.output<typeof Detail>;
