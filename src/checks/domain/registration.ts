import { isRecord, isTexts, parseJson } from '#kernel/json.ts';
import { singleLine } from '#kernel/text.ts';

/** The registration data of a domain. */
export interface DomainRegistration {
  /** In milliseconds since the epoch; null if it does not tell. */
  readonly expiresAt: number | null;
  readonly registrar: string | null;
  readonly status: readonly string[];
  /** The domain that this is about, in lower case without a dot at its end; null if it does not tell. */
  readonly domain: string | null;
}

const mostStatuses = 20;

/**
 * Reads the answer of an RDAP server about a domain (RFC 9083, sections 4.5, 5.1 and 5.3); null if it is none. What is not looked at
 * may be anything.
 */
export function readRegistration(content: Buffer): DomainRegistration | null {
  const domain = parseJson(content.toString('utf8'));
  if (!isRecord(domain) || domain['objectClassName'] !== 'domain') return null;
  const { status, events, entities, ldhName } = domain;
  const dates = recordsOf(events).flatMap(({ eventAction: action, eventDate: date }) =>
    typeof action === 'string' && typeof date === 'string' ? [{ action: action.toLowerCase(), date }] : [],
  );
  const dateOf = (wanted: string) => {
    const date = dates.find(({ action }) => action === wanted)?.date;
    const at = date === undefined ? Number.NaN : Date.parse(date);
    // What JavaScript can write as a date.
    return Math.abs(at) <= 8.64e15 ? at : null;
  };
  const registrar = recordsOf(entities).find(({ roles }) => textsOf(roles).includes('registrar'));
  return {
    expiresAt: dateOf('expiration') ?? dateOf('registrar expiration'),
    registrar: nameOf(registrar?.['vcardArray']),
    status: textsOf(status)
      .slice(0, mostStatuses)
      .map((word) => singleLine(word)),
    domain: typeof ldhName !== 'string' ? null : singleLine(ldhName).toLowerCase().replace(/\.$/, ''),
  };
}

const recordsOf = (value: unknown) => (Array.isArray(value) ? value.filter(isRecord) : []);

const textsOf = (value: unknown) => (isTexts(value) ? value : []);

// jCard (RFC 7095): ["vcard", [[name, parameters, type, value], ...]].
function nameOf(card: unknown): string | null {
  if (!Array.isArray(card) || card.length !== 2 || card[0] !== 'vcard') return null;
  const properties: unknown = card[1];
  if (!Array.isArray(properties) || !properties.every((property) => Array.isArray(property))) return null;
  const value: unknown = properties.find(([name]) => name === 'fn')?.[3];
  return typeof value === 'string' && value !== '' ? singleLine(value) : null;
}
