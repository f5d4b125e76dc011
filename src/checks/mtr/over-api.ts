import { z } from 'zod';
import { Duration } from '#kernel/unit-schemas.ts';
import { ApiTimeout } from '../over-api.ts';
import { refusePort } from '../path/option-schemas.ts';
import { Spec } from './spec.ts';

/** Without `max_hops`, which decides how many packets are sent. */
export const apiOptions = z
  .strictObject({
    protocol: Spec.shape.protocol,
    port: Spec.shape.port,
    packets: Spec.shape.packets,
    interval: Duration({ min: '200ms', max: '1s' })
      .default(1_000)
      .describe(Spec.shape.interval.description ?? ''),
    timeout: ApiTimeout(1_000, '10s').describe(Spec.shape.timeout.description ?? ''),
    names: Spec.shape.names,
    family: Spec.shape.family,
  })
  .superRefine(refusePort);
