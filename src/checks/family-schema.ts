import { isIP } from 'node:net';
import { z } from 'zod';
import { endpointOf } from './endpoint.ts';

/** Which address family a check of one connection uses. */
export const ConnectionFamily = z
  .literal([4, 6, 'both', 'happy_eyeballs'])
  .optional()
  .describe(
    'IPv4 or IPv6 only; "both": each must work; "happy_eyeballs": the first to connect. Default: IPv4 if the name has it, else IPv6.',
  );
export type ConnectionFamily = z.output<typeof ConnectionFamily>;

/** Refuses two families for a host that is an address, which has one. */
export function refuseFamiliesOfAddress(
  spec: { readonly host: string; readonly family?: ConnectionFamily },
  context: z.core.$RefinementCtx,
): void {
  const { host, family } = spec;
  if (family !== 'both' && family !== 'happy_eyeballs') return;
  if (isIP(endpointOf(host).name) === 0) return;
  const message = `"${family}" needs a host name: an address has one family`;
  context.addIssue({ code: 'custom', path: ['family'], message, input: family });
}

/** Refuses two families through a proxy, which connects to the target over one of its own choice. */
export function refuseBothWithProxy(
  { family, proxy }: { readonly family?: ConnectionFamily; readonly proxy?: unknown },
  context: z.core.$RefinementCtx,
): void {
  if (family !== 'both' || proxy === undefined) return;
  const message = '"both" cannot be set together with proxy: the proxy selects the family';
  context.addIssue({ code: 'custom', path: ['family'], message, input: family });
}
