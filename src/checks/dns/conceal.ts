import { isIP } from 'node:net';
import { isPublicAddress, reworded } from '../conceal.ts';
import { failed, failure, type Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

const resolver = "the node's resolver";

/**
 * What strangers may hear: nothing of the node's own resolver, and no answer that has a private address in it. A name that has
 * one is refused whole, as the gate refuses it for the other types: its meaning in this network is private.
 */
export function forStrangers(outcome: Outcome<Detail>): Outcome<Detail> {
  const { detail } = outcome;
  const addresses = detail?.records.flatMap(({ data }) => (isIP(data) === 0 ? [] : [data])) ?? [];
  if (!addresses.every(isPublicAddress)) {
    const reason = 'the name is refused: this node returns public addresses only';
    return failed(failure('node', 'forbidden', reason), { seconds: outcome.seconds });
  }
  const servers = [detail?.server, outcome.address].filter((one) => typeof one === 'string');
  const nameless = (text: string) => servers.reduce((rest, server) => rest.replaceAll(server, resolver), text);
  const concealed =
    detail === null
      ? null
      : { ...detail, server: null, problems: detail.problems.map((problem) => nameless(problem).slice(0, 200)) };
  if (outcome.status === 'up') return { ...outcome, address: null, detail: concealed ?? outcome.detail };
  const reason = reworded(outcome.failure, nameless(outcome.failure.message));
  return { ...outcome, address: null, failure: reason, detail: concealed };
}
