/** One of several hubs with one history, as its pages show it. */
export interface ShownHub {
  readonly name: string;
  readonly role: 'follower' | 'leader' | 'alone';
  /** The hub that leads; null if none is known to. */
  readonly leader: string | null;
  readonly degraded: readonly { readonly name: string; readonly reason: string }[];
}

/** A line about the hubs. */
export interface HubsLine {
  readonly words: string;
  readonly isWarning: boolean;
}

/** What pages say about the hubs, in one line. */
export function hubsLine({ name, role, leader, degraded }: ShownHub): HubsLine {
  if (role === 'alone')
    return { words: `Hub ${name} leads alone: it cannot reach NATS, and so no other hub.`, isWarning: true };
  if (role === 'follower' && leader === null)
    return { words: `Hub ${name} sees no hub that leads: what is shown may be old.`, isWarning: true };
  const own = role === 'leader' ? `Hub ${name} leads.` : `Hub ${name} follows hub ${leader}.`;
  const others = degraded.map((hub) => ` Hub ${hub.name} is degraded: ${hub.reason}.`).join('');
  return { words: own + others, isWarning: others !== '' };
}
