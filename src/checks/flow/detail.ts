import { z } from 'zod';
import { Certificate } from '../certificate-schema.ts';
import { Detail as HttpDetail } from '../http/detail.ts';
import { Phase } from '../outcome-schemas.ts';

const { status, failed_expectation } = HttpDetail.shape;
const Seconds = z.number().min(0).max(1e6);

/** One request of a flow, with those that it was redirected to. */
const StepDetail = z.strictObject({
  name: z.string().max(50),
  method: z.string().max(10),
  /** Where its last request went, without the query. */
  url: z.string().max(200),
  /** Status code of its last answer, or null if none came. */
  status,
  /** How many redirects were followed. */
  redirects: z.int().min(0).max(5),
  /** From the start of the flow to that of the step. */
  offset: Seconds,
  /** How long it took, name resolution included. */
  seconds: Seconds,
  phases: z.partialRecord(Phase, Seconds),
  failed_expectation,
});
export type StepDetail = z.output<typeof StepDetail>;

export const Detail = z.strictObject({
  /** The steps that were begun, in order. */
  steps: z.array(StepDetail).max(20),
  /** What the server of the first step with TLS presented. */
  certificate: Certificate.nullable(),
});
export type Detail = z.output<typeof Detail>;
