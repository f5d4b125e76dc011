import { z } from 'zod';
import { streamPresets } from './presets.ts';

/** The name of a protocol whose dialogue is ready. */
export const StreamPreset = z.enum(streamPresets);
