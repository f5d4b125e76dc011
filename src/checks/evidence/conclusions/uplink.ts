import {
  conclusion,
  type EvidenceView,
  joinNodes,
  joinSome,
  largestGroup,
  type NodeEvidence,
  type ConclusionRule,
} from './view.ts';

/** Whether a node cannot judge the target because it is cut off itself. */
export function isCutOff(evidence: NodeEvidence): boolean {
  return isGatewayDead(evidence) || isIsolated(evidence);
}

// Packets leave the node if a router behind the gateway answers, even if the gateway is silent: then references fail by themselves, or
// behind the same fault as the target.
function isLeaving({ document: { path } }: NodeEvidence): boolean {
  if (path === null) return false;
  return (
    path.end === 'reached' || path.hops.some(({ hop, probes }) => hop > 1 && probes.some((one) => one.address !== null))
  );
}

function isGatewayDead(evidence: NodeEvidence): boolean {
  return evidence.document.uplink?.gateway?.reached === false && !isLeaving(evidence);
}

// The resolver and all references, two at least, were asked, and none of them answered.
function isIsolated(evidence: NodeEvidence): boolean {
  const { uplink } = evidence.document;
  if (uplink === null || isLeaving(evidence)) return false;
  const { resolver, references } = uplink;
  return resolver?.answered === false && references.length > 1 && references.every(({ reached }) => !reached);
}

function deadGateway({ failing }: EvidenceView) {
  const group = largestGroup(failing, (one) =>
    isGatewayDead(one) ? (one.document.uplink?.gateway?.address ?? null) : null,
  );
  const [first] = group;
  if (first === undefined) return [];
  const address = first.document.uplink?.gateway?.address ?? '';
  const text = `the gateway of ${joinNodes(group)} (${address}) does not answer, so nothing about the target is concluded from there`;
  return conclusion('uplink', 'uplink-gateway', `T${text.slice(1)}`);
}

function isolated({ failing }: EvidenceView) {
  const group = failing.filter((one) => isIsolated(one) && !isGatewayDead(one));
  const [first] = group;
  if (first === undefined) return [];
  const names = joinSome((first.document.uplink?.references ?? []).map(({ name }) => name));
  const text = `The uplink of ${joinNodes(group)} is down: neither the resolver nor ${names} can be reached`;
  return group.length > 1
    ? conclusion(
        'uplink',
        'uplink-down',
        `The uplink of ${joinNodes(group)} is down: neither resolver nor references can be reached`,
      )
    : conclusion('uplink', 'uplink-down', text);
}

export const uplinkRules: readonly ConclusionRule[] = [deadGateway, isolated];
