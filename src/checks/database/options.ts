import { z } from 'zod';
import { FilePath } from '#kernel/file-path.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { formatHostPort, portOf } from '../endpoint.ts';
import { Host } from '../host-schema.ts';
import { PatternText } from '../pattern-schema.ts';
import { Tls } from '../stream/tls-schemas.ts';

// Options of the types that sign in to a server.
import { asksForTls, type ServerPorts } from './ports.ts';

/** A name or an address with a port; recorded with the scheme if that asks for TLS. */
export function ServerHost(ports: ServerPorts) {
  const { plain, scheme, secure } = ports;
  const example = `"${scheme}.example.com", "${scheme}.example.com:${plain}"`;
  return Host((endpoint) => {
    if (endpoint.scheme?.endsWith('+srv') === true)
      return { message: 'stands for several servers, which are in SRV records: give one of them, by its own name' };
    const isSecure = asksForTls(endpoint, ports);
    const standard = isSecure ? (secure?.port ?? plain) : plain;
    const port = endpoint.port ?? (endpoint.scheme === null || isSecure ? standard : portOf(endpoint));
    return `${isSecure ? `${secure?.scheme ?? scheme}://` : ''}${formatHostPort(endpoint.name, port)}`;
  }).describe(
    secure === null
      ? `Name or address, with a port or without: ${example}. Default port: ${plain}.`
      : `Name or address, with a port or without: ${example}; "${secure.scheme}://..." is with TLS. Default port: ${plain}, with TLS ${secure.port}.`,
  );
}

const Text = z
  .string()
  .max(1_000)
  .regex(/^\P{Cc}*$/u, { error: 'must not contain control characters' });

/** Options that every such type has. */
export const serverOptions = {
  timeout: Duration({ min: '100ms', max: '60s' })
    .default(10_000)
    .describe('For everything together: name, connection, TLS, login, query.'),
  family: z.literal([4, 6]).optional().describe('IPv4 or IPv6 only. Default: IPv4 if the name has it, else IPv6.'),
  username: Text.optional().describe('Who signs in.'),
  password: Text.optional().describe('Password; in a configuration best given as ${NAME} from the environment.'),
  password_file: FilePath.optional().describe('A file that holds the password, instead of it.'),
  tls: z.union([z.boolean(), Tls]).default(false).describe('Whether to start TLS, and how.'),
} as const;

/** The option that names a file. */
export const serverFiles = [['password_file']] as const;

const Scalar = z.union([z.string().max(1_000), z.number(), z.boolean(), z.null()]);

/** What a value that a server gives must be. */
export const ValueExpectation = z.strictObject({
  equals: Scalar.optional().describe('What the value must be; null: there must be none.'),
  not: Scalar.optional().describe('What the value must not be.'),
  regex: PatternText().optional().describe('Regular expression (RE2) that the value must match.'),
  min: z.number().optional().describe('The value must be a number, and at least this.'),
  max: z.number().optional().describe('The value must be a number, and at most this.'),
  latency: Duration({ min: '1ms', max: '60s' })
    .optional()
    .describe('The longest that the login and the query may take.'),
});
export type ValueExpectation = z.output<typeof ValueExpectation>;

/** The same for the rows of a query. */
export const RowsExpectation = ValueExpectation.extend({
  rows: z
    .strictObject({
      min: z.int().min(0).optional().describe('The least number of rows.'),
      max: z.int().min(0).optional().describe('The largest number of rows; up to 1,000 are read.'),
    })
    .optional()
    .describe('How many rows there must be.'),
});
export type RowsExpectation = z.output<typeof RowsExpectation>;
