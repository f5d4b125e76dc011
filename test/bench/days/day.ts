import type { Random } from '#kernel/random.ts';
import type { MailServer } from './mail-server.ts';
import type { NameServer } from './name-server.ts';
import type { Programs } from './programs.ts';
import type { LocalTime, Times } from './systems/system.ts';
import type { Behaviour } from './target.ts';

/** What a day can do to the world. Times are seconds. */
export interface World {
  readonly targets: readonly string[];
  readonly random: Random;
  readonly mail: MailServer;
  readonly names: NameServer;
  /** All systems, for what happens to the monitors themselves. */
  readonly systems: readonly Programs[];
  wait(seconds: number): Promise<void>;
  /** Changes the behaviour of targets, and records an outage of this kind for each. */
  fail(targets: readonly string[], behaviour: Behaviour, kind?: 'required' | 'allowed'): Promise<void>;
  /** Ends what `fail` began. */
  recover(targets: readonly string[], behaviour?: Behaviour): Promise<void>;
  /** Changes the behaviour without a record. */
  turn(targets: readonly string[], behaviour: Behaviour): Promise<void>;
  /** Records the beginning of an outage: of one that could not be seen before, for instance. */
  record(targets: readonly string[]): void;
  /** Whether the addresses of targets and mail server exist, and whether the monitors' cable is plugged in. */
  setReachable(targets: readonly string[], isReachable: boolean): void;
  setLink(state: 'up' | 'down'): void;
  /** Waits until so many seconds before the local time changes. */
  waitForChange(seconds: number): Promise<void>;
}

export interface Day {
  readonly name: string;
  /** What happens, for the table. */
  readonly what: string;
  /** On what it depends which mistakes systems make that make some on this day: they may differ between runs. */
  readonly varies?: string;
  readonly targets: number;
  /** Targets are configured by name. */
  readonly areNamed?: true;
  /** The first target has a certificate. */
  readonly hasTls?: true;
  /** There is a second recipient. */
  readonly hasSecond?: true;
  /** Each system has a small disk of its own. */
  readonly hasSmallDisks?: true;
  /** How targets behave when nothing is wrong. */
  readonly usual?: Behaviour;
  /** Summer time begins or ends during the day. */
  readonly localTime?: LocalTime['change'];
  /** Only on request: it is for a test, or takes hours. */
  readonly isExtra?: true;
  /** Instead of the usual ones. */
  readonly times?: Times;
  /** Seconds before it begins; 30 to 40 by default. */
  readonly warmUp?: number;
  /** The day needs a clock for each system. */
  readonly isClock?: true;
  /** Systems, by name, that have no check for this. */
  readonly without?: readonly string[];
  /** Seconds for late mails after the end; 70 by default. */
  readonly settle?: number;
  live(world: World): Promise<void>;
}
