import type { FastifyInstance } from 'fastify';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import { errorBody } from '#protocol/errors.ts';

/** A part of the program that has to make progress. */
export interface LivenessSource {
  readonly name: string;
  /**
   * Milliseconds for which work that is due has not been done: since the loop last came round, or since the oldest waiting
   * piece of work came. 0 if nothing is to do.
   */
  readonly ageMs: () => number;
  /** From this age on the part counts as stuck. */
  readonly limitMs: number;
}

export interface HealthOptions {
  readonly pulses: readonly LivenessSource[];
  /** Why requests are not to be sent here now, in words; empty if they are. */
  readonly notReady: () => readonly string[];
}

interface HealthPart {
  readonly ok: boolean;
  readonly age_seconds: number | null;
  readonly limit_seconds: number;
}

/**
 * `/healthz` says whether the program makes progress, so that it can be restarted if it does not; `/readyz` whether it
 * takes requests.
 */
export function addHealth(app: FastifyInstance, { pulses, notReady }: HealthOptions, log: Log): void {
  app.get('/healthz', (_, reply) => {
    const parts = Object.fromEntries(pulses.map((pulse) => [pulse.name, examine(pulse, log)]));
    const stuck = pulses.map(({ name }) => name).filter((name) => parts[name]?.ok !== true);
    if (stuck.length === 0) return reply.send({ ok: 1, stuck, parts });
    const problem = errorBody('stuck', `no progress: ${stuck.join(', ')}`);
    return reply.code(503).send({ ...problem, stuck, parts });
  });
  app.get('/readyz', (_, reply) => {
    const reasons = notReady();
    if (reasons.length === 0) return reply.send({ ok: 1 });
    return reply.code(503).send({ ...errorBody('not_ready', reasons.join('; ')), reasons });
  });
}

// A part that cannot even tell its age is no healthier than one that is stuck.
function examine({ name, ageMs, limitMs }: LivenessSource, log: Log): HealthPart {
  const limit_seconds = limitMs / 1_000;
  try {
    const age = ageMs();
    return { ok: age < limitMs, age_seconds: Math.max(0, Math.round(age) / 1_000), limit_seconds };
  } catch (error) {
    log.error({ part: name, err: error }, `health unknown: ${messageOf(error)}`);
    return { ok: false, age_seconds: null, limit_seconds };
  }
}
