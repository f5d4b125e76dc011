import { z } from 'zod';
import { ApiTimeout } from '../over-api.ts';
import { Spec } from './spec.ts';

/** Without `server` and `bootstrap`: nodes ask the registries that IANA lists. */
export const apiOptions = z.strictObject({ timeout: ApiTimeout(10_000), expect: Spec.shape.expect });
