import type { Failure } from './outcome.ts';

/**
 * Whose fault it is that the node's own name servers give no answer for a name: none at all, or SERVFAIL, REFUSED, NOTIMP or FORMERR
 * (RFC 1035, section 4.1.1). If they answer for the root, be it without records, they work and the zone of the name does not.
 */
export function nameFaultOf(answersForRoot: boolean): Failure['source'] {
  return answersForRoot ? 'target' : 'resolver';
}
