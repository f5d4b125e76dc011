import { addressRules, addressObjection } from './address.ts';
import { type Failure, failure, type Outcome } from './outcome.ts';

const noRules = addressRules([], []);

/** Whether this address may be shown to strangers. */
export function isPublicAddress(text: string): boolean {
  return addressObjection(text, 'public', noRules, []) === null;
}

// Whatever could be an address of either family, a zone included.
const six = /(?<![\w.:])(?=:*[\da-f])[\da-f]{0,4}(?::[\da-f]{0,4}){2,7}(?:\.\d{1,3}){0,3}(?:%[\w.-]+)?(?![\w:])/;
// A name that begins with an address, as those of nip.io do, is a name: the caller wrote it.
const four = /(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?!\d|\.[\w-])/;
const candidate = new RegExp(`${six.source}|${four.source}`, 'gi');

/** A text of ours with a word in the place of each address that is not public. */
export function concealAddresses(text: string): string {
  return text.replaceAll(candidate, (written) => (isNonPublic(written) ? 'a private address' : written));
}

function isNonPublic(written: string): boolean {
  const objection = addressObjection(written.replace(/%.*$/, ''), 'public', noRules, []);
  return objection !== null && objection !== 'no_address';
}

/** An outcome as those may hear it who may reach public addresses only: no other address stands in what went wrong. */
export function concealFailure<Detail>(outcome: Outcome<Detail>): Outcome<Detail> {
  if (outcome.status === 'up') return outcome;
  const message = concealAddresses(outcome.failure.message);
  return message === outcome.failure.message ? outcome : { ...outcome, failure: reworded(outcome.failure, message) };
}

export function reworded({ source, code }: Failure, message: string): Failure {
  return failure(source, code, message);
}
