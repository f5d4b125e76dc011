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

function isGatewayDead({ document: { uplink, path } }: NodeEvidence): boolean {
  return uplink?.gateway?.reached === false && path?.end !== 'reached';
}

// The resolver and all references, two at least, were asked, and none of them answered.
function isIsolated({ document: { uplink, path } }: NodeEvidence): boolean {
  if (uplink === null || path?.end === 'reached') return false;
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
