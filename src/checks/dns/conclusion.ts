import { isIP } from 'node:net';
import { failed, failure, type Failure, type Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';
import { answersOf } from './answers.ts';
import { type DnsAnswer, type QueryResult, nameOf } from './ask.ts';
import { mismatch } from './expectation.ts';
import type { Spec } from './spec.ts';
import { recordTypes } from './record-types.ts';
import { askedTypes } from './question.ts';

/** What the answers to a check's questions come to. */
export function conclude(
  spec: Spec,
  asked: readonly QueryResult[],
  phases: { readonly resolve?: number },
): Outcome<Detail> {
  const answered = asked.filter((one) => one.ok);
  const [first] = answered;
  if (first === undefined) {
    const [unanswered] = asked.filter((one) => !one.ok);
    if (unanswered === undefined) throw new RangeError('no query was sent');
    const { failure: reason, server, encryption } = unanswered;
    const facts = encryption?.facts ?? {};
    return failed(reason, { address: server.address, phases: { ...phases, ...encryption?.phases }, facts });
  }
  const chosen = answered.find((one) => one.message.rcode === 'NOERROR') ?? first;
  const detail = detailOf(spec, answered, chosen);
  const seconds = Math.max(...asked.map((one) => one.seconds));
  const { encryption } = asked.find((one) => one.seconds === seconds) ?? chosen;
  const facts = { ...encryption?.facts, ...(detail.TTL !== null && { answer_ttl: detail.TTL }) };
  const known = { seconds, address: chosen.server.address, phases: { ...phases, ...encryption?.phases }, facts };
  const reason = faultOf(spec, asked, chosen, detail);
  if (reason !== null) return failed(reason, { ...known, detail });
  const problems = chosen.message.rcode === 'NOERROR' ? failuresOf(asked, spec).map(({ message }) => message) : [];
  return { status: 'up', ...known, detail: { ...detail, problems } };
}

function detailOf(spec: Spec, answered: readonly DnsAnswer[], chosen: DnsAnswer): Detail {
  const records = answered.flatMap((one) => one.message.records);
  return {
    ...answersOf(records, isIP(spec.host) !== 0),
    rcode: chosen.message.rcode,
    server: nameOf(chosen.server),
    protocol: chosen.protocol,
    truncated: answered.some((one) => one.truncated),
    authoritative: chosen.message.authoritative,
    problems: [],
    ...(spec.expect?.authentic === true && { authentic: answered.every(({ message }) => message.authentic) }),
    ...tlsOf(chosen),
  };
}

function tlsOf({ encryption }: DnsAnswer): Pick<Detail, 'tls'> {
  if (encryption === undefined) return {};
  return { tls: { protocol: encryption.tlsProtocol ?? '', certificate: encryption.certificate } };
}

function faultOf(spec: Spec, asked: readonly QueryResult[], chosen: DnsAnswer, detail: Detail): Failure | null {
  const { expect } = spec;
  const { rcode } = chosen.message;
  if (expect?.rcode !== undefined && expect.rcode !== rcode) {
    const own = failureOf(chosen, spec);
    if (own !== null && rcode !== 'NXDOMAIN') return own;
    return failure('target', 'answer', `${nameOf(chosen.server)} answered ${rcode}, expected ${expect.rcode}`);
  }
  const accepted = expect?.rcode !== undefined && rcode !== 'NOERROR';
  if (!accepted) {
    const wanted = recordTypes.filter((type) => expect?.[type] !== undefined);
    const empty = !detail.records.some((record) => askedTypes(spec).some((type) => type === record.type));
    const unwanted = recordTypes.filter((type) => expect?.not?.[type] !== undefined);
    const looked = new Set([...wanted, ...unwanted]);
    const needed = asked.filter((one) => empty || looked.has(one.question.type));
    const [worst] = failuresOf(needed, spec);
    if (worst !== undefined) return worst;
    if (empty && wanted.length === 0) return noData(spec, chosen);
  }
  if (detail.authentic === false) {
    const text = `${nameOf(chosen.server)} does not state that it has validated the answer by DNSSEC`;
    return failure('target', 'answer', `${text}: the zone is not signed, or this server does not validate`);
  }
  return expect === undefined ? null : mismatch(expect, detail.records);
}

function failuresOf(asked: readonly QueryResult[], spec: Spec): readonly Failure[] {
  return asked.flatMap((one) => failureOf(one, spec) ?? []);
}

function failureOf(asked: QueryResult, spec: Spec): Failure | null {
  if (!asked.ok) return asked.failure;
  if (asked.blamed !== null) return asked.blamed;
  const server = nameOf(asked.server);
  switch (asked.message.rcode) {
    case 'NOERROR':
      return null;
    case 'NXDOMAIN':
      return failure('target', 'name_not_found', `${spec.host} does not exist (NXDOMAIN)`);
    case 'REFUSED':
      return failure('target', 'refused', `${server} refused to answer (REFUSED)`);
    default:
      return failure('target', 'name_server', `${server} answered ${asked.message.rcode}`);
  }
}

function noData(spec: Spec, { message, server }: DnsAnswer): Failure {
  if (message.referral) {
    return failure(
      'target',
      'answer',
      `${nameOf(server)} only refers to other name servers; it does not know ${spec.host}`,
    );
  }
  const types = askedTypes(spec);
  const addresses = types.includes('A') || types.includes('AAAA');
  const text = `${spec.host} exists but has no ${types.join(' or ')} record`;
  return failure('target', addresses ? 'name_without_address' : 'answer', text);
}
