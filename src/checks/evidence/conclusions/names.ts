import { isIP } from 'node:net';
import type { AuthoritativeServer, NamesEvidence } from '../detail.ts';
import {
  conclusion,
  type EvidenceView,
  joinNodes,
  joinSome,
  largestGroup,
  type NodeEvidence,
  quoted,
  type ConclusionRule,
  seenFrom,
} from './view.ts';

const namesOf = ({ document }: NodeEvidence) => document.names;

interface Zone {
  readonly zone: string;
  readonly servers: readonly AuthoritativeServer[];
}

const lastZone = (names: NamesEvidence | null): Zone | null => names?.delegation.at(-1) ?? null;

// What the servers of the last zone agree on: null if none answers with authority, or if they contradict each other.
function authoritativeAnswer(names: NamesEvidence | null): readonly string[] | null {
  const answers = (lastZone(names)?.servers ?? []).flatMap(({ authoritative, answer }) =>
    authoritative && answer !== null && answer.length > 0 ? [answer] : [],
  );
  const [first] = answers;
  if (first === undefined) return null;
  const same = (other: readonly string[]) => other.toSorted().join('\n') === first.toSorted().join('\n');
  return answers.every(same) ? first : null;
}

const deniesName = ({ rcode, authoritative }: AuthoritativeServer) => authoritative && rcode === 'NXDOMAIN';

function gone({ failing, now }: EvidenceView) {
  const group = largestGroup(failing, (one) => goneText(namesOf(one), now));
  const text = group[0] === undefined ? null : goneText(namesOf(group[0]), now);
  return text === null ? [] : conclusion('names', 'domain-gone', text);
}

const lastStatuses: ReadonlySet<string> = new Set(['redemption period', 'pending delete']);

function goneText(names: NamesEvidence | null, now: number): string | null {
  const registration = names?.registration;
  if (registration === undefined) return null;
  const { domain, registered, expiresAt, status } = registration;
  if (registered === false) return `The domain ${domain} is not registered`;
  if (registered === null) return null;
  const last = status.find((one) => lastStatuses.has(one.toLowerCase()));
  if (last !== undefined) return `The domain ${domain} has expired: its status is ${quoted(last)}`;
  if (expiresAt === null || Date.parse(expiresAt) > now) return null;
  return `The domain ${domain} expired on ${expiresAt.slice(0, 10)}`;
}

function missingName(view: EvidenceView) {
  const group = largestGroup(view.failing, (one) => {
    const names = namesOf(one);
    const servers = lastZone(names)?.servers.filter(({ rcode }) => rcode !== null && rcode !== undefined) ?? [];
    const isMissing = servers.length > 0 && servers.every(deniesName) && names?.answers.length === 0;
    return isMissing && names.name !== undefined ? names.name : null;
  });
  const names = group[0] === undefined ? null : namesOf(group[0]);
  if (names?.name === undefined) return [];
  const zone = lastZone(names)?.zone ?? '';
  const text = `The authoritative servers of ${zone} answer that ${names.name} does not exist${seenFrom(group, view)}`;
  return conclusion('names', 'name-missing', text);
}

// One that the check names is the same for all nodes.
function resolverText({ resolver, named }: NamesEvidence, whose: string): string {
  if (named === undefined) return `${whose} (${resolver ?? ''})`;
  const address = resolver === named.server ? '' : ` (${resolver ?? ''})`;
  return `the resolver ${named.server}${address}`;
}

function resolverSilent(view: EvidenceView) {
  const { failing } = view;
  const stateOf = (one: NodeEvidence) => {
    const names = namesOf(one);
    const isBad = names !== null && names.answers.length === 0 && names.resolver !== null;
    return isBad && authoritativeAnswer(names) !== null ? (names.rcode ?? 'silence') : null;
  };
  const group = largestGroup(failing, stateOf);
  const [first] = group;
  const names = first === undefined ? null : namesOf(first);
  if (first === undefined || names === null) return [];
  const zone = lastZone(names)?.zone ?? '';
  const isMany = group.length > 1 && names.named === undefined;
  const whose = `${isMany ? 'the resolvers' : 'the resolver'} of ${joinNodes(group)}`;
  const where = isMany ? whose : resolverText(names, whose);
  const does = isMany ? 'do' : 'does';
  const state = stateOf(first);
  const what =
    state === 'silence'
      ? `${does} not`
      : state === 'NOERROR'
        ? `${isMany ? 'have' : 'has'} no such record`
        : `${isMany ? 'answer' : 'answers'} ${state ?? ''}`;
  const from = names.named === undefined ? '' : seenFrom(group, view);
  return conclusion('names', 'resolver-fails', `The authoritative servers of ${zone} answer, ${where} ${what}${from}`);
}

// Addresses only: an alias may lead through other zones.
function contradictionOf(names: NamesEvidence | null): string | null {
  const proper = authoritativeAnswer(names);
  if (names === null || proper === null || names.answers.length === 0) return null;
  const given = names.answers.filter((answer) => isIP(answer) !== 0);
  const right = proper.filter((answer) => isIP(answer) !== 0);
  if (given.length === 0 || right.length < proper.length || given.some((answer) => right.includes(answer))) return null;
  const zone = lastZone(names)?.zone ?? '';
  return `answers ${joinSome(given)} for ${names.name ?? zone}, the authoritative servers ${joinSome(right)}`;
}

// Some zones answer each resolver differently: then it was so before, and is so where the target is up.
function contradiction(view: EvidenceView) {
  const { failing, healthy } = view;
  if (healthy.some((one) => contradictionOf(namesOf(one)) !== null)) return [];
  const group = largestGroup(failing, (one) =>
    contradictionOf(one.lastGood?.names ?? null) === null ? contradictionOf(namesOf(one)) : null,
  );
  const names = group[0] === undefined ? null : namesOf(group[0]);
  const text = contradictionOf(names);
  if (text === null) return [];
  const whose = `the resolver of ${joinNodes(group)}`;
  const isMany = group.length > 1 && names?.named === undefined;
  const where = names === null || isMany ? whose : resolverText(names, whose);
  const from = names?.named === undefined ? '' : seenFrom(group, view);
  return conclusion('names', 'resolver-contradicts', `T${where.slice(1)} ${text ?? ''}${from}`);
}

const isLame = ({ authoritative, rcode }: AuthoritativeServer) =>
  !authoritative && rcode !== null && rcode !== undefined;

function lameText(names: NamesEvidence | null): string | null {
  const zone = lastZone(names);
  const lame = zone?.servers.find(isLame);
  if (zone === null || lame === undefined) return null;
  const how = lame.rcode === 'NOERROR' ? '' : ` (${lame.rcode ?? ''})`;
  return `The name server ${lame.name} is listed for ${zone.zone} and does not answer with authority${how}`;
}

function lameDelegation(view: EvidenceView) {
  const group = largestGroup(view.failing, (one) => {
    const text = lameText(namesOf(one));
    return text === lameText(one.lastGood?.names ?? null) ? null : text;
  });
  const text = group[0] === undefined ? null : lameText(namesOf(group[0]));
  return text === null ? [] : conclusion('delegation', 'lame-delegation', `${text}${seenFrom(group, view)}`);
}

function allSilentText(names: NamesEvidence | null): string | null {
  const zone = lastZone(names);
  const asked = zone?.servers.filter(({ address }) => address !== null) ?? [];
  const isSilent =
    asked.length > 0 &&
    asked.every(({ answer, rcode, failure }) => answer === null && (rcode ?? null) === null && failure !== null);
  if (zone === null || !isSilent || asked.length < zone.servers.length) return null;
  return joinSome(asked.map(({ name }) => name));
}

function silentServers({ failing }: EvidenceView) {
  const group = largestGroup(failing, (one) => allSilentText(namesOf(one)));
  const names = group[0] === undefined ? null : namesOf(group[0]);
  const servers = allSilentText(names);
  if (servers === null || names === null || names.answers.length > 0) return [];
  const zone = lastZone(names)?.zone ?? '';
  const text = `None of the authoritative servers of ${zone} answers ${joinNodes(group)} (${servers})`;
  return conclusion('names', 'servers-silent', text);
}

export const namesRules: readonly ConclusionRule[] = [gone, contradiction, resolverSilent, missingName, silentServers];

/** What resolvers get over, as a rule. */
export const delegationRules: readonly ConclusionRule[] = [lameDelegation];
