import { z } from 'zod';
import { ApiTimeout } from '../over-api.ts';
import { refusePort } from '../path/option-schemas.ts';
import { Spec } from './spec.ts';

/** Without `max_hops` and `queries`, which decide how many packets are sent. */
export const apiOptions = z
  .strictObject({
    protocol: Spec.shape.protocol,
    port: Spec.shape.port,
    timeout: ApiTimeout(1_000, '10s').describe(Spec.shape.timeout.description ?? ''),
    names: Spec.shape.names,
    family: Spec.shape.family,
  })
  .superRefine(refusePort);
