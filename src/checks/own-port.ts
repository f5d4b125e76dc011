/** Both ends of a connected socket. */
export interface ConnectedEnds {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
}

/**
 * Whether a socket is connected to itself. A connection to a closed port of this machine ends so if the system chooses the same port for
 * its own end (a simultaneous open; RFC 9293, section 3.5): what is sent then comes back, as if from a server.
 */
export function isConnectedToItself({ localAddress, localPort, remoteAddress, remotePort }: ConnectedEnds): boolean {
  return localPort !== undefined && localPort === remotePort && localAddress === remoteAddress;
}
