import { z } from 'zod';
import { ApiAnswer, ApiTimeout } from '../over-api.ts';
import { Spec, UdpPreset } from './spec.ts';

/** Nodes send strangers' bytes to no one: the presets are ours. */
export const apiOptions = z.strictObject({
  timeout: ApiTimeout(3_000, '10s'),
  tries: Spec.shape.tries,
  send: UdpPreset.optional().describe('What to send. Default: by the port, else two line ends.'),
  expect: ApiAnswer,
  silence: Spec.shape.silence,
});
