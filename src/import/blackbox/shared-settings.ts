import { z } from 'zod';
import type { PlainMap } from '../draft.ts';

export const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** What a module says of TLS. */
export const Tls = z
  .looseObject({
    insecure_skip_verify: z.boolean().default(false),
    server_name: Text.optional(),
    ca_file: Text.optional(),
    cert_file: Text.optional(),
    key_file: Text.optional(),
    min_version: Text.optional(),
  })
  .prefault({});
/** Which IP version a module wants. */
export const family = { preferred_ip_protocol: Text.default('ip6'), ip_protocol_fallback: z.boolean().default(true) };

/** The version as a check has it. */
export const familyOf = (settings: {
  readonly preferred_ip_protocol: string;
  readonly ip_protocol_fallback: boolean;
}) => (settings.ip_protocol_fallback ? undefined : settings.preferred_ip_protocol === 'ip4' ? 4 : 6);

/** How TLS is to be, if that is not as usual. */
export function tlsOptions({ insecure_skip_verify: isLax, server_name }: z.output<typeof Tls>): PlainMap | undefined {
  return isLax || server_name !== undefined ? { verify: isLax ? false : undefined, server_name } : undefined;
}
