import { z } from 'zod';
import { interfaceTypeNames } from '#checks/index.ts';

// The shapes of the interface, section by section. Readers take extra keys and extra elements; what we send has none.

/** Interface 2.1: `<country_code><n>.node.<node_domain>`. */
export const NodeId = z
  .string()
  .regex(/^[a-z]{2}\d{1,9}\.node\.[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/)
  .describe('A node: `<country_code><n>.node.<node_domain>`.');
export type NodeId = z.infer<typeof NodeId>;

/** The key of a run. Ours have 20 letters and digits; those of others may be shorter. */
export const RequestId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,64}$/)
  .describe('The identifier of a check, and the only key to its results.');
export type RequestId = z.infer<typeof RequestId>;

const CountryCode = z.string().max(100).describe('Two lower-case letters; empty if the location is unknown.');
const CountryName = z.string().max(100).describe('Empty if the location is unknown.');
const City = z.string().max(100).describe('Empty if the location is unknown.');
const IpAddress = z.string().max(100).describe('The address of the node; empty if it is unknown.');
const Asn = z.string().max(100).describe('`AS<number>`; empty if it is unknown.');

/** Interface 2.3: country code, country name, city, address, ASN. */
export const NodeDescriptor = z
  .tuple([CountryCode, CountryName, City, IpAddress, Asn], z.unknown())
  .describe('Country code, country name, city, IP address and ASN of a node.');
export type NodeDescriptor = z.infer<typeof NodeDescriptor>;

/** Interface 2.4. */
export const NodeEntry = z
  .object({
    asn: Asn,
    ip: IpAddress,
    location: z.tuple([CountryCode, CountryName, City]).describe('Country code, country name and city.'),
  })
  .describe('A node in the list of nodes.');
export type NodeEntry = z.infer<typeof NodeEntry>;

/** Interface 2.2. */
export const CheckStarted = z
  .object({
    ok: z.literal(1).describe('The check was started.'),
    request_id: RequestId,
    permanent_link: z.url().describe('The report of the check, for people.'),
    nodes: z.record(z.string(), NodeDescriptor).describe('The nodes that run the check.'),
  })
  .describe('A check that was started.');
export type CheckStarted = z.infer<typeof CheckStarted>;

/** What a node answers that cannot say anything about the target, whosever fault that is. */
export const NodeFault = z
  .tuple([z.null(), z.object({ message: z.string().max(200) })])
  .describe('The node, its resolver or the service failed: nothing is known about the target.');

/** Null while the node works, else what `fromWire` reads. One broken value must not spoil the others, so anything passes. */
const NodeResult = z.unknown().meta({
  description:
    'Null while the node works; then an array whose shape depends on the check type. `[null, ...]`: node fault.',
  anyOf: [{ type: 'null' }, { type: 'array', minItems: 1 }],
});

/** Interface 2.5: each node's result under its identifier. */
export const CheckResult = z
  .record(z.string(), NodeResult)
  .describe("Each node's result so far, under the node's identifier.");
export type CheckResult = z.infer<typeof CheckResult>;

/** Interface 2.6. `port` is ours, for types that record one. */
export const CheckResultExtended = z
  .object({
    command: z.enum(interfaceTypeNames).describe('The check type.'),
    created: z.int().min(0).describe('When the check was started, in seconds since 1970.'),
    host: z.string().describe('The target as it was recorded.'),
    port: z.string().optional().describe('The port, for check types that record it apart.'),
    results: CheckResult,
  })
  .describe('The results with what was checked.');
export type CheckResultExtended = z.infer<typeof CheckResultExtended>;

/** Interface 4.4. */
export const NodeList = z
  .object({ nodes: z.record(z.string(), NodeEntry).describe('The nodes, by identifier.') })
  .describe('The nodes that take checks.');
export type NodeList = z.infer<typeof NodeList>;

/** What the public service answers at `/nodes/ips`: the bare addresses. */
export const NodeAddresses = z
  .object({ nodes: z.array(z.string().max(100)).describe('The addresses of the nodes.') })
  .describe('The addresses of the nodes that take checks, in the form of the public service.');
export type NodeAddresses = z.infer<typeof NodeAddresses>;
