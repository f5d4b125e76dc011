import ipaddr from 'ipaddr.js';

/**
 * The data of an SVCB or HTTPS record as a zone file writes it, `1 . alpn=h2,h3 port=8443` (RFC 9460, sections 2.1 and 2.2);
 * null if it cannot be read.
 */
export function readServiceBinding(data: Buffer): string | null {
  try {
    const { name, end } = readName(data, 2);
    const words = [String(data.readUInt16BE(0)), name];
    for (let offset = end; offset < data.length;) {
      const key = data.readUInt16BE(offset);
      const length = data.readUInt16BE(offset + 2);
      offset += 4 + length;
      if (offset > data.length) return null;
      words.push(parameter(key, data.subarray(offset - length, offset)));
    }
    return words.join(' ');
  } catch (error) {
    // A number that would stand behind the end, or bytes that are no address.
    if (error instanceof RangeError || error instanceof TypeError) return null;
    throw error;
  }
}

const keys = ['mandatory', 'alpn', 'no-default-alpn', 'port', 'ipv4hint', 'ech', 'ipv6hint', 'dohpath'];

function parameter(key: number, value: Buffer): string {
  const name = nameOf(key);
  const valueText = valueOf(name, value);
  return valueText === '' ? name : `${name}=${valueText}`;
}

function nameOf(key: number): string {
  return keys[key] ?? `key${key}`;
}

function valueOf(name: string, value: Buffer): string {
  switch (name) {
    case 'mandatory':
      return slices(value, 2)
        .map((key) => nameOf(key.readUInt16BE(0)))
        .join(',');
    case 'alpn':
      return protocolsOf(value).join(',');
    case 'port':
      return String(value.readUInt16BE(0));
    case 'ipv4hint':
      return addresses(value, 4);
    case 'ipv6hint':
      return addresses(value, 16);
    case 'dohpath':
      return value.toString('utf8');
    default:
      return value.toString('base64');
  }
}

function addresses(value: Buffer, bytes: number): string {
  return slices(value, bytes)
    .map((address) => ipaddr.fromByteArray([...address]).toString())
    .join(',');
}

function slices(value: Buffer, bytes: number): readonly Buffer[] {
  if (value.length % bytes !== 0) throw new RangeError('a value of the wrong length');
  return Array.from({ length: value.length / bytes }, (_, index) => value.subarray(index * bytes, (index + 1) * bytes));
}

function protocolsOf(value: Buffer): readonly string[] {
  const protocols: string[] = [];
  for (let offset = 0; offset < value.length;) {
    const length = value.readUInt8(offset);
    protocols.push(value.toString('latin1', offset + 1, offset + 1 + length));
    offset += 1 + length;
  }
  return protocols;
}

// A target's name is never compressed (RFC 9460, section 2.2).
function readName(data: Buffer, start: number): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let offset = start;
  for (;;) {
    const length = data.readUInt8(offset);
    offset += 1;
    if (length === 0) return { name: labels.length === 0 ? '.' : labels.join('.'), end: offset };
    if (length > 63 || offset + length > data.length) throw new RangeError('a name that does not end');
    labels.push(data.toString('utf8', offset, offset + length));
    offset += length;
  }
}
