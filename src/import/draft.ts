import type { Outcome } from '#checks/index.ts';
import type { OriginalJudge } from './original.ts';

/** A value of a configuration file; undefined values are omitted. */
export type PlainValue =
  | string
  | number
  | boolean
  | null
  | readonly PlainValue[]
  | { readonly [key: string]: PlainValue | undefined };
export type PlainMap = { readonly [key: string]: PlainValue | undefined };

/** A difference: a skipped target, a lost part, or one that works in another way. */
export interface ImportNote {
  /** `gatus.yaml:12:5`, or what stands for it in a database. */
  readonly place: string;
  readonly kind: 'left out' | 'lost' | 'differs';
  readonly text: string;
}

/** Tells what becomes of a part of a check. */
export type DifferenceReporter = (kind: 'lost' | 'differs', text: string) => void;

/** The keys of a check that does what another program's did, or why there is none. */
export type DraftEntry = PlainMap | SkippedEntry;

export interface SkippedEntry {
  readonly leftOut: string;
}

export function isSkipped(made: DraftEntry): made is SkippedEntry {
  return 'leftOut' in made;
}

/** What was measured before, of the target with this origin. Times are milliseconds since the epoch. */
export interface ImportedPastResult {
  readonly at: number;
  readonly origin: number;
  readonly outcome: Outcome;
}

export interface DraftTarget {
  /** Where it was before. */
  readonly place: string;
  /** What it was called before. */
  readonly title: string;
  /** Who it was in the source, for its history; null if it has none. */
  readonly origin: number | null;
  readonly keys: PlainMap;
  /** How the other program judges a response; absent if that is not known. */
  readonly judge?: OriginalJudge | undefined;
}

/** A configuration in the making. Names are given here, so that each is a permitted one and there once. */
export class Draft {
  readonly targets = new Map<string, DraftTarget>();
  readonly rules = new Map<string, PlainMap>();
  readonly notify = new Map<string, PlainMap>();
  readonly maintenance: PlainMap[] = [];
  /** Every other section. */
  readonly sections = new Map<string, PlainValue>();
  /** Secrets, by the path of the file beside the configuration. */
  readonly files = new Map<string, string>();
  readonly notes: ImportNote[] = [];
  /** Null if there is none. */
  history: (() => Iterable<ImportedPastResult>) | null = null;

  note(kind: ImportNote['kind'], place: string, text: string): void {
    this.notes.push({ place, kind, text });
  }

  /** Adds a target under a name made of its title, and gives that name. */
  target(target: DraftTarget): string {
    const slug = slugOf(target.title);
    const name = unused(slug || `target-${this.targets.size + 1}`, this.targets);
    // A name that nothing could be kept of is still shown.
    const labels =
      slug === '' ? { ...labelsIn(target.keys), ...labelsOf([['name', target.title]]) } : target.keys['labels'];
    this.targets.set(name, { ...target, keys: { ...target.keys, labels } });
    return name;
  }

  /** The name of the rule with this body: `wanted`, unless another rule has it. */
  rule(wanted: string, body: PlainMap): string {
    return named(this.rules, wanted, body);
  }

  /** The name of these recipients: `wanted`, unless others have it. */
  recipients(wanted: string, body: PlainMap): string {
    return named(this.notify, slugOf(wanted) || 'people', body);
  }

  /** Puts a secret into a file of its own and gives the path to write. */
  secret(wanted: string, text: string): string {
    const path = `secrets/${unused(slugOf(wanted), new Map([...this.files].map(([file]) => [file.slice(8), ''])))}`;
    this.files.set(path, text);
    return path;
  }
}

/** Up to 63 of `a-z`, `0-9` and `-`; empty if nothing of the text can be kept. */
function slugOf(text: string): string {
  const plain = text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  return plain
    .replaceAll(/[^a-z0-9_]+/g, '-')
    .replaceAll(/^[-_]+|-+$/g, '')
    .slice(0, 63)
    .replace(/-+$/, '');
}

function unused(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(wanted)) return wanted;
  let number = 2;
  while (taken.has(`${wanted.slice(0, 58)}-${number}`)) number += 1;
  return `${wanted.slice(0, 58)}-${number}`;
}

function named(known: Map<string, PlainMap>, wanted: string, body: PlainMap): string {
  const text = JSON.stringify(body);
  for (const [name, other] of known) if (JSON.stringify(other) === text) return name;
  const name = unused(wanted, known);
  known.set(name, body);
  return name;
}

/** Labels with permitted names and lengths, sixteen at most. */
export function labelsOf(wanted: Iterable<readonly [string, string]>): PlainMap | undefined {
  const labels = new Map<string, string>();
  for (const [name, value] of wanted) {
    const key =
      name
        .replaceAll(/[^a-zA-Z0-9_]+/g, '_')
        .replace(/^[\d_]+/, '')
        .slice(0, 60) || 'label';
    if (value !== '' && labels.size < 16 && !labels.has(key)) labels.set(key, value.slice(0, 200));
  }
  return labels.size === 0 ? undefined : Object.fromEntries(labels);
}

const labelsIn = ({ labels }: PlainMap): PlainMap => (isMap(labels) ? labels : {});

export function isMap(value: PlainValue | undefined): value is PlainMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
