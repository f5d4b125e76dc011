import { EvidenceDocument } from './detail.ts';

const text = 'x';
const at = '2026-01-01T00:00:00.000Z';
const server = { name: text, address: text, answer: [text], failure: null, authoritative: true, rcode: text };

// Every part of a document once.
const whole: EvidenceDocument = {
  path: {
    protocol: 'udp',
    port: 1,
    address: text,
    family: 4,
    hops: [{ hop: 1, probes: [{ address: text, seconds: 0, kind: 'reply' }], as: { number: 1, name: text } }],
    end: 'reached',
    mtu: 1,
    large: { result: 'passed', last_hop: 1 },
  },
  names: {
    resolver: text,
    answers: [text],
    failure: null,
    rcode: text,
    delegation: [{ zone: text, servers: [server] }],
    registration: { domain: text, registered: true, expiresAt: at, status: [text], failure: null },
  },
  tls: {
    address: text,
    protocol: text,
    chain: [{ subject: text, issuer: text, notBefore: at, notAfter: at, names: [text] }],
    alert: text,
    failure: text,
    versions: [{ version: text, accepted: true, failure: null }],
  },
  response: { status: text, headers: [[text, text]], body: text, bodyBytes: 1, redirects: [text], failure: null },
  received: { bytes: 1, text, closed: true, failure: null },
  uplink: {
    gateway: { address: text, reached: true, seconds: 0 },
    resolver: { address: text, answered: true },
    references: [{ name: text, reached: true }],
  },
  missing: [{ part: text, reason: text }],
};

/** Reads a document once: the schema is compiled at its first use, which takes some 30 ms and must not fall into an outage. */
export function warmUpDocument(): void {
  EvidenceDocument.parse(whole);
}
