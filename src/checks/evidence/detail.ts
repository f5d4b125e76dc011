import { z } from 'zod';
import { Protocol } from '../dns/spec.ts';
import { PathTrace } from '../path/path-trace.ts';
import { retainedBytes } from './limits.ts';

const Line = z.string().max(300);
const Address = z.string().max(64);
const Name = z.string().max(260);
const Reason = z.string().max(200);

// An escape such as `\x1b` takes four characters.
const Excerpt = z.string().max(4 * retainedBytes);

const AuthoritativeServer = z.strictObject({
  name: Name,
  /** Null if its name has no address. */
  address: Address.nullable(),
  /** The data of the records that it answers with; null if it was not asked, or did not answer. */
  answer: z.array(Line).max(20).nullable(),
  failure: Reason.nullable(),
  authoritative: z.boolean(),
  rcode: z.string().max(20).nullable().optional(),
});
export type AuthoritativeServer = z.output<typeof AuthoritativeServer>;

const Names = z.strictObject({
  /** The name that was asked for, and the type of record. */
  name: Name.optional(),
  record: z.string().max(20).optional(),
  /** The resolver that was asked, `address` or `address:port`: the node's own unless there is `named`. */
  resolver: z.string().max(80).nullable(),
  /** The name server that the target's check names, and how it was asked. */
  named: z.strictObject({ server: Name, protocol: Protocol }).optional(),
  answers: z.array(Line).max(20),
  failure: Reason.nullable(),
  rcode: z.string().max(20).nullable(),
  /** Zones from the top down; the servers of the last one were asked for the name. */
  delegation: z.array(z.strictObject({ zone: Name, servers: z.array(AuthoritativeServer).max(13) })).max(10),
  /** What the registry says of the domain; absent if it was not asked. */
  registration: z
    .strictObject({
      domain: Name,
      /** Null if the registry gave no answer. */
      registered: z.boolean().nullable(),
      expiresAt: z.iso.datetime().nullable(),
      status: z.array(z.string().max(100)).max(20),
      failure: Reason.nullable(),
    })
    .optional(),
});
export type NamesEvidence = z.output<typeof Names>;

const OfferedCertificate = z.strictObject({
  subject: Line,
  issuer: Line,
  notBefore: z.iso.datetime(),
  notAfter: z.iso.datetime(),
  names: z.array(Line).max(20),
});
export type OfferedCertificate = z.output<typeof OfferedCertificate>;

const TlsEvidence = z.strictObject({
  address: Address.nullable(),
  protocol: z.string().max(20).nullable(),
  /** As the server offers it, its own certificate first, whether it can be verified or not. */
  chain: z.array(OfferedCertificate).max(10),
  /** The alert by which the server ended the handshake. */
  alert: z.string().max(100).nullable(),
  failure: Reason.nullable(),
  /** `accepted` is null if it could not be found out. */
  versions: z
    .array(
      z.strictObject({ version: z.string().max(10), accepted: z.boolean().nullable(), failure: Reason.nullable() }),
    )
    .max(4),
  /** The name that was asked for. */
  serverName: Name.optional(),
  /** Whether the certificate is for that name. */
  isForName: z.boolean().optional(),
  /** The code of OpenSSL's verification; null if the chain is trusted. */
  problem: z.string().max(100).nullable().optional(),
});
export type TlsEvidence = z.output<typeof TlsEvidence>;

const ResponseEvidence = z.strictObject({
  /** Such as `503 Service Unavailable`; null if there was no response. */
  status: Line.nullable(),
  headers: z.array(z.tuple([z.string().max(100), Line])).max(60),
  /** The first KiB as text. */
  body: Excerpt.nullable(),
  /** How many bytes of the body came; null if none was read. */
  bodyBytes: z.int().min(0).nullable(),
  /** The addresses that a redirect led away from, and at last the one that responded. */
  redirects: z.array(z.string().max(2_100)).max(6),
  failure: Reason.nullable(),
  /** Whether the body came to its end. */
  isWhole: z.boolean().optional(),
});
export type ResponseEvidence = z.output<typeof ResponseEvidence>;

/** What came over a connection that was open, or in reply to a datagram. */
const ReceivedEvidence = z.strictObject({
  bytes: z.int().min(0),
  /** The first KiB, with escapes for what cannot be printed. */
  text: Excerpt,
  /** Whether the other end closed the connection. */
  closed: z.boolean(),
  failure: Reason.nullable(),
  protocol: z.enum(['tcp', 'udp']).optional(),
  /** Whether more was waited for until the time was up. */
  isSilent: z.boolean().optional(),
});
export type ReceivedEvidence = z.output<typeof ReceivedEvidence>;

const UplinkEvidence = z.strictObject({
  /** Null if the way to the target leads over none. `reached` is what the kernel knows of it as a neighbour. */
  gateway: z.strictObject({ address: Address, reached: z.boolean(), seconds: z.number().min(0).nullable() }).nullable(),
  resolver: z.strictObject({ address: z.string().max(80), answered: z.boolean() }).nullable(),
  references: z.array(z.strictObject({ name: Name, reached: z.boolean() })).max(2),
});

/** What one node saw of a target at one moment. A part that does not apply is null; one that could not be gathered is in `missing`. */
export const EvidenceDocument = z.strictObject({
  path: PathTrace.nullable(),
  names: Names.nullable(),
  tls: TlsEvidence.nullable(),
  response: ResponseEvidence.nullable(),
  received: ReceivedEvidence.nullable(),
  uplink: UplinkEvidence.nullable(),
  missing: z.array(z.strictObject({ part: z.string().max(20), reason: Reason })).max(20),
});
export type EvidenceDocument = z.output<typeof EvidenceDocument>;
