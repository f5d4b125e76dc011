import { fingerprintOf } from '#compose/hubs/fingerprint.ts';
import type { Config } from '#config/config.ts';
import type { MemberStatus } from '#hubs/member.ts';
import type { HubStatus } from '#hubs/peers.ts';

/** What a hub answers when it is asked how it is; without a member it is copying the history. */
export function statusOf(
  member: MemberStatus | null,
  { name, version, config }: { readonly name: string; readonly version: string; readonly config: Config },
): HubStatus {
  const fingerprint = fingerprintOf(config);
  if (member !== null) return { name, version, fingerprint, ...member };
  const applied = { sequence: 0, epoch: 0, n: 0 };
  const trouble = 'copying the history';
  return { name, version, fingerprint, role: 'follower', since: 0, epoch: 0, leader: null, applied, trouble };
}
