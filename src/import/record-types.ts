import { checkOf } from '#checks/index.ts';

/** The DNS record types that a `dns` check can ask for. */
export const recordTypes: readonly string[] = checkOf('dns').Spec.shape.record.unwrap().options;
