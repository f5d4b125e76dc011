import { singleLine } from '#kernel/text.ts';
import type { DomainRegistration } from './registration.ts';

/** What a WHOIS server says of a domain; `registration` is null if it is not registered. */
export interface WhoisAnswer {
  readonly registration: DomainRegistration | null;
}

const expiryKeys: ReadonlySet<string> = new Set([
  'registry expiry date',
  'registrar registration expiration date',
  'domain expiration date',
  'expiration date',
  'expiration time',
  'expiration',
  'expiry date',
  'expiry',
  'expire date',
  'expire',
  'expires',
  'expires on',
  'expires at',
  'record expires on',
  'paid-till',
  'renewal date',
  'valid until',
  'validity',
]);
const nameKeys: ReadonlySet<string> = new Set(['domain', 'domain name', 'domainname']);
const statusKeys: ReadonlySet<string> = new Set(['status', 'domain status', 'state']);
const registrarKeys: ReadonlySet<string> = new Set(['registrar', 'registrar name', 'sponsoring registrar']);

// Whole lines in which registries say that they do not know a domain.
const denial =
  /^(?:no match|not found|no data found|no entries found|no object found|nothing found|domain (?:name )?not found|the queried object does not exist|object does not exist|no such domain|(?:domain )?status:\s*(?:free|available)\s*$)/i;

const mostStatuses = 20;

/** The server that another one names (IANA: `refer:`); null if it names none. */
export function referralIn(text: string): string | null {
  const named = /^(?:refer|whois):[ \t]*(\S{1,250})[ \t]*\r?$/im.exec(text)?.[1];
  return named === undefined
    ? null
    : named
        .replace(/^whois:\/\//i, '')
        .replace(/\/$/, '')
        .toLowerCase();
}

/**
 * Reads an answer, which has no form that all registries share: lines of a key and a value. Null if it says neither that the domain is
 * registered nor that it is not, such as that too many questions were asked.
 */
export function readWhois(text: string, domain: string): WhoisAnswer | null {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const pairs = lines.flatMap(pairIn);
  const valuesOf = (keys: ReadonlySet<string>) => pairs.flatMap(([key, value]) => (keys.has(key) ? [value] : []));
  const names = valuesOf(nameKeys).map((name) => name.toLowerCase().replace(/\.$/, ''));
  // Some write the name below its key.
  const isAbout = names.includes(domain) || lines.some((line) => line.toLowerCase() === domain);
  const isDenied = lines.some((line) => denial.test(line.replace(/^[%>#*\s]+/, '')));
  const expiresAt = valuesOf(expiryKeys)
    .map(dateIn)
    .find((at) => at !== null);
  if (isDenied && expiresAt === undefined) return { registration: null };
  if (!isAbout) return null;
  const [registrar] = valuesOf(registrarKeys).filter((value) => value !== '');
  return {
    registration: {
      expiresAt: expiresAt ?? null,
      registrar: registrar === undefined ? null : singleLine(registrar),
      status: [...new Set(valuesOf(statusKeys).map(statusIn))].filter((one) => one !== '').slice(0, mostStatuses),
      domain,
    },
  };
}

// `key: value`, `key......: value`, `[key] value`, or `Record expires on value`.
function pairIn(line: string): readonly (readonly [key: string, value: string])[] {
  const [, bracketed, plain, value] =
    /^(?:\[([^\]]{1,60})\]|([a-z][a-z /-]{0,60}?)[ .\t]*:)[ \t]*(.*)$/i.exec(line) ??
    /^(\0)?(record expires on|expires on)[ \t]+(.*)$/i.exec(line) ??
    [];
  const key = bracketed ?? plain;
  return key === undefined ? [] : [[key.trim().toLowerCase(), (value ?? '').trim()]];
}

// `redemptionPeriod https://icann.org/epp#redemptionPeriod` is what RDAP calls `redemption period` (RFC 8056).
function statusIn(value: string): string {
  const [word = ''] = value.split(/ +(?=https?:|\()/);
  return singleLine(word.replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase());
}

const months = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];

/**
 * The time in milliseconds that a date of a registry means, in UTC unless it says otherwise; null for one that cannot be read, or that has two
 * readings, as 03/04/2027 has.
 */
export function dateIn(text: string): number | null {
  const date = yearFirst(text) ?? dayFirst(text);
  if (date === null) return null;
  const [year, month, day, rest] = date;
  const [, hour = '0', minute = '0', second = '0', zone = ''] =
    /^[T ]+(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?[ ]*(Z|[+-]\d{2}(?::?\d{2})?)?/i.exec(rest) ?? [];
  const at = Date.UTC(year, month - 1, day, Number(hour), Number(minute), Number(second));
  const made = new Date(Date.UTC(year, month - 1, day));
  if (made.getUTCMonth() !== month - 1 || made.getUTCDate() !== day) return null;
  return at - offsetMs(zone);
}

type ReadDate = readonly [year: number, month: number, day: number, rest: string];

// 2027-03-01, 2027/03/01, 2027. 03. 01., 2027.03.01, 2027-Mar-01, 20270301.
function yearFirst(text: string): ReadDate | null {
  const [, year = '', month = '', day = '', rest = ''] =
    /^((?:19|20)\d{2})(?:[-/.] ?)(\d{1,2}|[a-z]{3})(?:[-/.] ?)(\d{1,2})(?!\d)\.?(.*)$/i.exec(text) ??
    /^((?:19|20)\d{2})(\d{2})(\d{2})(?!\d)(.*)$/.exec(text) ??
    [];
  return year === '' ? null : [Number(year), monthOf(month), Number(day), rest];
}

// 01.03.2027, 01-03-2027, 01-Mar-2027, 31/03/2027.
function dayFirst(text: string): ReadDate | null {
  const [, first = '', separator = '', second = '', year = '', rest = ''] =
    /^(\d{1,2})([-/. ])(\d{1,2}|[a-z]{3})[-/. ]((?:19|20)\d{2})(?!\d)(.*)$/i.exec(text) ?? [];
  if (year === '') return null;
  if (separator !== '/' || /[a-z]/i.test(second)) return [Number(year), monthOf(second), Number(first), rest];
  if (Number(first) > 12) return [Number(year), Number(second), Number(first), rest];
  return Number(second) > 12 ? [Number(year), Number(first), Number(second), rest] : null;
}

function monthOf(text: string): number {
  return /\d/.test(text) ? Number(text) : months.indexOf(text.toLowerCase()) + 1;
}

function offsetMs(zone: string): number {
  const [, sign, hours = '0', minutes = '0'] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  if (sign === undefined) return 0;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000;
}
