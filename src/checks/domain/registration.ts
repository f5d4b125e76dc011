import { z } from 'zod';
import { singleLine } from '#kernel/text.ts';
import { readJson } from '#kernel/json.ts';

/** The registration data of a domain. */
export interface DomainRegistration {
  /** In milliseconds since the epoch; null if it does not tell. */
  readonly expiresAt: number | null;
  readonly registrar: string | null;
  readonly status: readonly string[];
  /** The domain that this is about, in lower case without a dot at its end; null if it does not tell. */
  readonly domain: string | null;
}

// RFC 9083, sections 4.5, 5.1 and 5.3: what is not looked at may be anything.
const Domain = z.object({
  objectClassName: z.literal('domain'),
  ldhName: z.string().optional().catch(undefined),
  status: z.array(z.string()).catch([]),
  events: z.array(z.object({ eventAction: z.string(), eventDate: z.string() }).or(z.null()).catch(null)).catch([]),
  entities: z
    .array(
      z
        .object({ roles: z.array(z.string()).catch([]), vcardArray: z.unknown() })
        .or(z.null())
        .catch(null),
    )
    .catch([]),
});

const mostStatuses = 20;

/** Reads the answer of an RDAP server about a domain; null if it is none. */
export function readRegistration(content: Buffer): DomainRegistration | null {
  const domain = readJson(Domain, content.toString('utf8'));
  if (domain === null) return null;
  const { status, events, entities, ldhName } = domain;
  const dateOf = (action: string) => {
    const date = events.find((event) => event?.eventAction.toLowerCase() === action)?.eventDate;
    const at = date === undefined ? Number.NaN : Date.parse(date);
    // What JavaScript can write as a date.
    return Math.abs(at) <= 8.64e15 ? at : null;
  };
  const registrar = entities.find((entity) => entity?.roles.includes('registrar') === true);
  return {
    expiresAt: dateOf('expiration') ?? dateOf('registrar expiration'),
    registrar: nameOf(registrar?.vcardArray),
    status: status.slice(0, mostStatuses).map((word) => singleLine(word)),
    domain: ldhName === undefined ? null : singleLine(ldhName).toLowerCase().replace(/\.$/, ''),
  };
}

// jCard (RFC 7095): ["vcard", [[name, parameters, type, value], ...]].
const Card = z.tuple([z.literal('vcard'), z.array(z.array(z.unknown()))]);

function nameOf(card: unknown): string | null {
  const value = Card.safeParse(card).data?.[1].find(([name]) => name === 'fn')?.[3];
  return typeof value === 'string' && value !== '' ? singleLine(value) : null;
}
