import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Issued } from './certificates.ts';
import { type Listening, tcpServer } from './tcp-servers.ts';

/** What a server does in turn: say something, hear something that it must, or start TLS. */
export type Turn = { readonly say: string | Buffer } | { readonly hear: string } | 'starttls';

export interface TalkingServer extends Listening {
  /** What was heard of each connection, in order; `latin1`. */
  readonly heard: readonly string[];
}

/** A server that keeps to a script with every connection, and says nothing more where the other side does not. */
export async function talkingServer(script: readonly Turn[], certificate?: Issued): Promise<TalkingServer> {
  const heard: string[] = [];
  const follow = (socket: Socket, turns: readonly Turn[]) => {
    let left = [...turns];
    let text = '';
    const goOn = () => {
      for (;;) {
        const [turn] = left;
        if (turn === undefined) return;
        if (turn === 'starttls') {
          socket.removeAllListeners('data');
          const secured = new TLSSocket(socket, { isServer: true, ...certificate });
          secured.on('error', () => {});
          follow(secured, left.slice(1));
          left = [];
          return;
        }
        if ('say' in turn) {
          socket.write(turn.say);
        } else {
          const at = text.indexOf(turn.hear);
          if (at === -1) return;
          heard.push(text.slice(0, at + turn.hear.length));
          text = text.slice(at + turn.hear.length);
        }
        left = left.slice(1);
      }
    };
    socket.on('error', () => {});
    socket.once('end', () => socket.end());
    socket.on('data', (piece: Buffer) => {
      text += piece.toString('latin1');
      goOn();
    });
    goOn();
  };
  return { ...(await tcpServer((socket) => follow(socket, script))), heard };
}
