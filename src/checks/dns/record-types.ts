/** The types of records that can be asked for. */
export const recordTypes = [
  'A',
  'AAAA',
  'MX',
  'TXT',
  'NS',
  'CNAME',
  'SOA',
  'PTR',
  'CAA',
  'SRV',
  'DS',
  'DNSKEY',
  'TLSA',
  'SVCB',
  'HTTPS',
  'NAPTR',
] as const;
export type RecordType = (typeof recordTypes)[number];

/** How a name server is asked. */
export const protocols = ['udp', 'tcp', 'tls', 'https'] as const;
export type Protocol = (typeof protocols)[number];

/** The most records of an answer that an outcome retains. */
export const mostRecords = 100;
