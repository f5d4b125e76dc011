import { z } from 'zod';
import {
  checkOf,
  type CheckTypeName,
  type Dialect,
  failed,
  failure,
  type NodeInfo,
  type Outcome,
} from '#checks/index.ts';
import { singleLine } from '#kernel/text.ts';
import { type NodeDescriptor, type NodeEntry, NodeId } from './shapes.ts';

/**
 * A node's finished result as interface 2.7 shapes it. A node that cannot say, by whosever fault but the target's, answers
 * `[null, { message }]`: a row of the type would be read as the target's.
 */
export function toWire(outcome: Outcome, type: CheckTypeName, dialect: Dialect = 'interface'): unknown {
  if (outcome.status === 'unknown') {
    const { source, message } = outcome.failure;
    if (source !== 'target') return [null, { message }];
  }
  return (
    checkOf(type).row?.toRow(outcome, dialect) ?? [
      null,
      { message: `results of the type ${type} are at /api/v1/checks/<request_id>` },
    ]
  );
}

/**
 * The outcome that a value of the result map tells, or null while the node works. `[null]`, `[null, text]` and
 * `[null, { message }]` are node faults; what cannot be read is one too, with the text of it in the message.
 */
export function fromWire(row: unknown, type: CheckTypeName): Outcome | null {
  if (row === null) return null;
  const fault = NodeFault.safeParse(row);
  if (fault.success) return failed(failure('node', 'internal', messageIn(fault.data[1])));
  return checkOf(type).row?.fromRow(row) ?? failed(failure('node', 'internal', `unreadable result: ${written(row)}`));
}

/** The identifier of the node that configuration and metrics call `name`. */
export function nodeIdOf(name: string, domain: string): NodeId {
  return `${name}.node.${domain}`;
}

/** What stands before the first dot of a node identifier, such as `de1`; null if it is no node identifier. */
export function nodeNameOf(id: string): string | null {
  return NodeId.safeParse(id).success ? id.slice(0, id.indexOf('.')) : null;
}

export function toDescriptor({ countryCode, country, city, ip, asn }: NodeInfo): NodeDescriptor {
  return [countryCode, country, city, ip, asn];
}

export function fromDescriptor(name: string, [countryCode, country, city, ip, asn]: NodeDescriptor): NodeInfo {
  return { name, countryCode, country, city, ip, asn };
}

export function toEntry({ countryCode, country, city, ip, asn }: NodeInfo): NodeEntry {
  return { asn, ip, location: [countryCode, country, city] };
}

export function fromEntry(name: string, { asn, ip, location: [countryCode, country, city] }: NodeEntry): NodeInfo {
  return { name, countryCode, country, city, asn, ip };
}

const NodeFault = z.tuple([z.null()], z.unknown());
const Message = z.union([z.string(), z.object({ message: z.string() }).transform(({ message }) => message)]);

function messageIn(value: unknown): string {
  const read = Message.safeParse(value);
  if (read.success && read.data.trim() !== '') return read.data;
  return value === undefined
    ? 'the node could not run the check'
    : `the node could not run the check: ${written(value)}`;
}

function written(value: unknown): string {
  return singleLine(JSON.stringify(value) ?? String(value), 150);
}
