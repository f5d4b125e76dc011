import { z } from 'zod';
import { readJson } from '#kernel/json.ts';

// Of what the engine says, what is used here (Docker Engine API, ContainerInspect).
const Container = z.object({
  State: z.object({
    Status: z.string(),
    Running: z.boolean().default(false),
    OOMKilled: z.boolean().default(false),
    ExitCode: z.int().default(0),
    Error: z.string().default(''),
    Health: z
      .object({
        Status: z.string(),
        Log: z.array(z.object({ Output: z.string().default('') })).nullish(),
      })
      .nullish(),
  }),
  Config: z.object({ Image: z.string().default('') }).nullish(),
  RestartCount: z.int().min(0).default(0),
});
export type Container = z.output<typeof Container>;

/** Reads what the engine says of a container; null if it is something else. */
export function readContainer(text: string): Container | null {
  return readJson(Container, text);
}
