import { createSocket } from 'node:dgram';
import { type Answer, decode, encode, type Packet } from 'dns-packet';

const rcodes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 } as const;

export interface Reply {
  readonly rcode?: keyof typeof rcodes;
  readonly answers?: readonly Answer[];
}

/** What to answer to the `count`-th question of this kind, from 1; null is silence. The root's name is empty. */
export type Script = (name: string, type: string, count: number) => Reply | null;

export interface DnsServer extends AsyncDisposable {
  /** `address:port` as resolvers take it. */
  readonly address: string;
  /** Every question so far: `A example.com`. */
  readonly questions: readonly string[];
}

/** A name server on loopback that answers whatever it is told to. */
export async function dnsServer(script: Script): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const questions: string[] = [];
  socket.on('message', (message, peer) => {
    const query = packetIn(message);
    const [question] = query?.questions ?? [];
    if (query === null || question === undefined) return;
    const asked = `${question.type} ${question.name}`;
    questions.push(asked);
    const count = questions.filter((one) => one === asked).length;
    const reply = script(question.name.toLowerCase().replace(/^\.$/, ''), question.type, count);
    if (reply === null) return;
    const packet: Packet = {
      type: 'response',
      id: query.id ?? 0,
      flags: 0x0180 | rcodes[reply.rcode ?? 'NOERROR'],
      questions: [question],
      answers: [...(reply.answers ?? [])],
    };
    socket.send(encode(packet), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    questions,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => socket.close(() => resolve()));
    },
  };
}

// What traces a path to this port is no question, and gets no answer.
function packetIn(message: Buffer): Packet | null {
  try {
    return decode(message);
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** A script that gives names their addresses, of either family, and does not know any other name. */
export function zone(records: Readonly<Record<string, readonly string[]>>): Script {
  return (name, type) => {
    if (name === '') return { answers: [{ type: 'NS', name: '', data: 'a.root.example' }] };
    const addresses = records[name];
    if (addresses === undefined) return { rcode: 'NXDOMAIN' };
    return { answers: addressRecords(name, type, addresses) };
  };
}

/** Those of the addresses that answer a question of the type. */
export function addressRecords(name: string, type: string, addresses: readonly string[]): readonly Answer[] {
  const fitting = addresses.filter((address) => address.includes(':') === (type === 'AAAA'));
  return fitting.map((data) => ({ type: data.includes(':') ? 'AAAA' : 'A', name, ttl: 60, data }));
}
