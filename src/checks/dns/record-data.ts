import type { Answer } from 'dns-packet';
import { singleLine } from '#kernel/text.ts';
import { readServiceBinding } from './service-binding.ts';

const longestData = 2_000;

// What the decoder has no name for (RFC 9460, section 14.1).
const unnamed: ReadonlyMap<string, string> = new Map([
  ['UNKNOWN_64', 'SVCB'],
  ['UNKNOWN_65', 'HTTPS'],
]);

/** The name of a record's type. */
export function typeOf(record: Answer): string {
  return unnamed.get(record.type) ?? record.type;
}

/** A record's data as a zone file writes it, text records without their quotes. One line, whatever stood in the record. */
export function dataOf(record: Answer): string {
  switch (record.type) {
    case 'MX':
      return clean(`${record.data.preference ?? 0} ${record.data.exchange}`);
    case 'SRV': {
      const { priority = 0, weight = 0, port, target } = record.data;
      return clean(`${priority} ${weight} ${port} ${target}`);
    }
    case 'SOA': {
      const { mname, rname, serial = 0, refresh = 0, retry = 0, expire = 0, minimum = 0 } = record.data;
      return clean(`${mname} ${rname} ${serial} ${refresh} ${retry} ${expire} ${minimum}`);
    }
    case 'CAA':
      return clean(`${record.data.flags ?? 0} ${record.data.tag} ${record.data.value}`);
    case 'TXT':
      return clean([record.data].flat().map(String).join(''));
    case 'DS': {
      const { keyTag, algorithm, digestType, digest } = record.data;
      return clean(`${keyTag} ${algorithm} ${digestType} ${digest.toString('hex')}`);
    }
    case 'DNSKEY':
      // Its second field is always 3 (RFC 4034, section 2.1.2).
      return clean(`${record.data.flags} 3 ${record.data.algorithm} ${record.data.key.toString('base64')}`);
    case 'TLSA': {
      const { usage, selector, matchingType, certificate } = record.data;
      return clean(`${usage} ${selector} ${matchingType} ${certificate.toString('hex')}`);
    }
    case 'NAPTR': {
      const { order, preference, flags, services, regexp, replacement } = record.data;
      return clean(`${order} ${preference} "${flags}" "${services}" "${regexp}" ${replacement}`);
    }
    default:
      if (!('data' in record)) return '';
      if (typeof record.data === 'string') return clean(record.data);
      return Buffer.isBuffer(record.data) ? clean(readServiceBinding(record.data) ?? '') : '';
  }
}

function clean(text: string): string {
  return singleLine(text, longestData);
}
