/** A target as a system is to watch it. */
export interface TargetPlan {
  readonly name: string;
  /** An address, or a name that the day's name server knows. */
  readonly host: string;
  readonly isTls: boolean;
}

/** What a system is set up for; every system gets the same. */
export interface Plan {
  /** A folder of its own, where it has its configuration and its data. */
  readonly folder: string;
  readonly targets: readonly TargetPlan[];
  readonly mailHost: string;
  readonly recipients: readonly string[];
  /** PEM file of the authority of targets with TLS. */
  readonly authority: string;
  /** Where the monitors' packets go first, for systems that can know that all targets are behind it. */
  readonly gateway: string;
  readonly times: Times;
  /** Path of the URLs that the system asks for: targets see by it which system asks. */
  readonly path: string;
  /** Whether the clock of the system is to be set. */
  readonly needsClock: boolean;
  /** The local time of the day's programs, if it changes. */
  readonly zone?: LocalTime;
}

/** The rules for all systems, in seconds. */
export interface Times {
  readonly every: number;
  readonly retry: number;
  readonly timeout: number;
  readonly groupWait: number;
  readonly groupInterval: number;
}

/** A time zone whose summer time begins or ends at a moment of the day. */
export interface LocalTime {
  /** A file of zic(8). */
  readonly file: string;
  /** Milliseconds since 1970. */
  readonly changeAt: number;
  readonly change: 'begins' | 'ends';
}

export interface Command {
  readonly words: readonly [string, ...string[]];
  readonly environment?: Readonly<Record<string, string>>;
  /** Whether its unit file has it started again after it failed. */
  readonly restarts?: true;
  /** It is no part of the system: what happens to the monitor does not happen to it. */
  readonly isApart?: true;
}

export interface SetUp {
  /** Its programs, each to be started in the foreground. */
  readonly commands: readonly Command[];
  /** The file of its configuration that a person would edit. */
  readonly configuration: string;
  /** What its unit file does at a reload: `check` has to succeed first, then the first program gets SIGHUP. */
  readonly check: readonly [string, ...string[]] | null;
  /** Sets its clock ahead, if it has one of its own. */
  setClock?(aheadMs: number): void;
  /** How far its clock is ahead at the start. */
  readonly aheadMs?: number;
}

/** Where and when a system was, for its history. */
export interface Past {
  readonly folder: string;
  readonly targets: readonly TargetPlan[];
  /** Milliseconds since 1970, by the clock of the system. */
  readonly from: number;
  readonly to: number;
  /** Runs a short command where the monitors are and returns its output. */
  readonly run: (words: readonly string[]) => string;
}

/** What one mail reports. */
export interface Report {
  readonly began: readonly string[];
  readonly ended: readonly string[];
}

export interface Mail {
  readonly subject: string;
  readonly text: string;
}

export interface System {
  readonly name: string;
  /** Debian packages, the first with the version that counts; empty for this project. */
  readonly packages: readonly string[];
  setUp(plan: Plan): SetUp;
  read(mail: Mail): Report;
  /** The seconds of downtime that the running system shows afterwards for each target; null if it keeps no history. */
  readonly downtimes: ((past: Past) => ReadonlyMap<string, number>) | null;
}

export const usualTimes: Times = { every: 10, retry: 5, timeout: 5, groupWait: 5, groupInterval: 30 };
/** Failing checks in a row until a mail, for systems that count. */
export const attempts = 3;
export const slowerThan = 1.5;
export const certificateDays = 14;

export const urlOf = ({ host, isTls }: TargetPlan, path: string) => `${isTls ? 'https' : 'http'}://${host}${path}`;

/** The names of targets in a text, each once. */
export function namesIn(text: string): readonly string[] {
  return [...new Set(text.match(/\bweb-\d\d\b/g) ?? [])];
}

/** The name of a system in folders and mail addresses. */
export const slugOf = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** Its recipients; the mails of the first one are judged. */
export const recipientsOf = (name: string, count: number) =>
  ['ops', 'second'].slice(0, count).map((mailbox) => `${mailbox}@${slugOf(name)}.example`);
