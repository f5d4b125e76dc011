import { z } from 'zod';
import { ApiTimeout } from '../over-api.ts';
import { Tls } from '../stream/tls-schemas.ts';
import { Spec } from './spec.ts';

export const apiOptions = z
  .strictObject({
    record: Spec.shape.record,
    resolver: Spec.shape.resolver,
    protocol: Spec.shape.protocol,
    path: Spec.shape.path,
    recursion: Spec.shape.recursion,
    timeout: ApiTimeout(5_000, '10s'),
    tls: Tls.pick({ server_name: true, verify: true }).optional().describe('The certificate of the name server.'),
    expect: Spec.shape.expect,
  })
  .superRefine(({ recursion, resolver }, context) => {
    // Without recursion a node's own name server tells what others in its network asked for.
    if (recursion || resolver !== undefined) return;
    context.addIssue({ code: 'custom', path: ['recursion'], message: 'false needs a "resolver" over the API' });
  });
