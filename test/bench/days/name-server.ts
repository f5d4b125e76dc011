import { createSocket } from 'node:dgram';
import { decode, encode } from 'dns-packet';

export interface NameServer extends AsyncDisposable {
  /** Answers from now on, or is silent. */
  turn(isOn: boolean): void;
}

/** The only name server that the monitors know. It answers `NAME.days.test` by the address of the target, for ten seconds. */
export async function startNameServer(host: string, addresses: ReadonlyMap<string, string>): Promise<NameServer> {
  let isOn = true;
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    if (!isOn) return;
    const { id = 0, questions = [] } = decode(message);
    const [question] = questions;
    if (question === undefined) return;
    const data = addresses.get(question.name.toLowerCase());
    const answers =
      data === undefined || question.type !== 'A' ? [] : [{ type: 'A' as const, name: question.name, ttl: 10, data }];
    // Recursion desired and available; NXDOMAIN for other names.
    const isKnown = data !== undefined || question.name === '';
    socket.send(
      encode({ type: 'response', id, flags: 0x01_80 | (isKnown ? 0 : 3), questions: [question], answers }),
      peer.port,
      peer.address,
    );
  });
  await new Promise<void>((resolve) => {
    socket.bind(53, host, resolve);
  });
  return {
    turn: (next) => void (isOn = next),
    [Symbol.asyncDispose]: async () => new Promise<void>((resolve) => socket.close(() => resolve())),
  };
}
