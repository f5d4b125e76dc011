import { z } from 'zod';
import { parseRange } from './address.ts';

/** A range of addresses: `10.0.0.0/8`, `2001:db8::/32`, or one address. */
export const AddressRange = z.string().superRefine((text, context) => {
  if (parseRange(text) !== null) return;
  context.addIssue({ code: 'custom', input: text, message: 'expected an address or a range such as "10.0.0.0/8"' });
});
