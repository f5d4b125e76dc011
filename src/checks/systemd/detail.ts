import { z } from 'zod';

const Text = z.string().max(200);

/** What systemd says of a unit, in its words (org.freedesktop.systemd1(5)). */
export const Detail = z.strictObject({
  /** `active`, `failed` and so on. */
  state: Text,
  /** The finer state, which depends on the kind of unit: `running`, `exited`, `waiting`. */
  sub: Text,
  description: Text,
  /** How a service ended last: `success`, `exit-code`, `signal`, `timeout`, `oom-kill`; null for other kinds. */
  result: Text.nullable(),
  /** With what the main process of a service ended last, a signal as its number; null for other kinds. */
  exit: z.int().nullable(),
  /** How often systemd has restarted a service; null for other kinds. */
  restarts: z.int().min(0).nullable(),
});
export type Detail = z.output<typeof Detail>;
