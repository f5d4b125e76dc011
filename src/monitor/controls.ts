import type { Clock } from '#kernel/clock.ts';
import { WatchpostError } from '#kernel/errors.ts';
import type { Random } from '#kernel/random.ts';
import { singleLine } from '#kernel/text.ts';
import type { Silence, SilenceRequest } from './suppress/silence.ts';
import type { Incident } from './judge/incident.ts';
import type { Monitor } from './monitor.ts';

/** What an operator can tell the running monitor. What is asked wrongly throws `usage`. */
export interface Controls {
  silences(): readonly Silence[];
  addSilence(asked: SilenceRequest): Silence;
  /** Ends a silence now. */
  expireSilence(id: string): Silence;
  openIncidents(): readonly Incident[];
  acknowledge(incident: string, why: string): Promise<Incident>;
}

export interface ControlsOptions {
  readonly monitor: () => Monitor;
  readonly clock: Clock;
  readonly random: Random;
}

export function createControls({ monitor, clock, random }: ControlsOptions): Controls {
  return {
    silences: () => monitor().silences(),
    addSilence({ targets: wanted, from: asked, forMs, why }) {
      const unknown = wanted === 'all' ? [] : wanted.filter((name) => !monitor().targets().includes(name));
      if (unknown.length > 0) throw new WatchpostError('usage', `there is no target ${unknown.join(', ')}`);
      const from = Math.max(asked ?? 0, clock.now());
      const silence = { id: random.id(8), targets: wanted, why: singleLine(why), from, until: from + forMs };
      monitor().silence(silence);
      return silence;
    },
    expireSilence(id) {
      const known = monitor()
        .silences()
        .find((silence) => silence.id === id);
      if (known === undefined)
        throw new WatchpostError('usage', `there is no silence ${id}; list them with \`watchpost silence list\``);
      const ended = { ...known, until: clock.now() };
      monitor().silence(ended);
      return ended;
    },
    openIncidents: () => monitor().openIncidents(),
    async acknowledge(id, why) {
      const incident = await monitor().acknowledge(id, singleLine(why));
      if (incident === null)
        throw new WatchpostError('usage', `there is no open incident ${id}; the last line of a mail has its name`);
      return incident;
    },
  };
}
