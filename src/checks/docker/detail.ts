import { z } from 'zod';

const Text = z.string().max(200);

/** What the engine says of a container. */
export const Detail = z.strictObject({
  /** `running`, `exited` and so on, in the words of the engine. */
  state: Text,
  /** The result of its health check: `starting`, `healthy` or `unhealthy`; null if it has none. */
  health: Text.nullable(),
  image: Text.nullable(),
  /** With what the container ended last; null while it runs. */
  exit: z.int().nullable(),
  /** How often the engine has restarted it. */
  restarts: z.int().min(0),
});
export type Detail = z.output<typeof Detail>;
