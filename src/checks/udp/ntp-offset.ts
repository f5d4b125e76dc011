// Seconds from the epoch of NTP (1900) to that of Unix.
const epochs = 2_208_988_800;
const era = 2 ** 32;

/**
 * How far the clock of an NTP server is ahead of ours, in seconds (RFC 5905, section 8), by a reply and the wall times in milliseconds
 * at which its request left and it came. Null if the server is not synchronised, or sends no times.
 */
export function offsetOf(reply: Buffer, sentAt: number, receivedAt: number): number | null {
  const [flags = 0, stratum = 0] = reply;
  if (flags >> 6 === 3 || stratum === 0 || stratum >= 16) return null;
  const [receive, transmit] = [32, 40];
  if (isUnset(reply, receive) || isUnset(reply, transmit)) return null;
  const offset = (aheadAt(reply, receive, sentAt) + aheadAt(reply, transmit, receivedAt)) / 2;
  return Math.round(offset * 1e6) / 1e6;
}

const isUnset = (reply: Buffer, at: number) => reply.readUInt32BE(at) === 0 && reply.readUInt32BE(at + 4) === 0;

// Timestamps do not tell their era: the one nearest to our own time is meant (section 6).
function aheadAt(reply: Buffer, at: number, wallMs: number): number {
  const seconds = reply.readUInt32BE(at) + reply.readUInt32BE(at + 4) / era - epochs;
  const ahead = seconds - wallMs / 1e3;
  return ahead - Math.round(ahead / era) * era;
}
