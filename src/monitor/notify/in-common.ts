import { singleLine } from '#kernel/text.ts';
import { hostIn } from '#kernel/url.ts';
import { type Incident, isOwnVote, latestCause } from '../judge/incident.ts';

/** What several incidents have in common. */
export interface CommonCause {
  /** To follow what happened: `, all with dc=fra, on 192.0.2.7, seen by de1 only: connection refused`; empty for nothing. */
  readonly text: string;
  /** The labels that all targets have. */
  readonly labels: Incident['labels'];
}

/** Looks for common labels, a common host, the only nodes that see them, and a common cause. */
export function commonCauseOf(incidents: readonly Incident[]): CommonCause {
  const [first] = incidents;
  const targets = new Set(incidents.map(({ target }) => target));
  if (first === undefined || targets.size < 2) return { text: '', labels: {} };
  const labels = Object.fromEntries(
    Object.entries(first.labels).filter(([name, value]) => incidents.every((one) => one.labels[name] === value)),
  );
  const written = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  const host = sharedValue(incidents.map(hostOf));
  const nodes = sharedValue(incidents.map(onlyNodes));
  const cause = sharedValue(incidents.map(latestCause));
  const all = [
    ...(written.length === 0 ? [] : [`with ${singleLine(written.join(', '), 120)}`]),
    ...(host === null ? [] : [`on ${singleLine(host, 80)}`]),
    ...(nodes === null ? [] : [`seen by ${singleLine(nodes, 80)} only`]),
  ];
  const text = all.length === 0 ? '' : `, all ${all.join(', ')}`;
  return { text: `${text}${cause === null ? '' : `: ${singleLine(cause, 120)}`}`, labels };
}

function sharedValue(values: readonly (string | null)[]): string | null {
  const [first = null] = values;
  return values.every((value) => value === first) ? first : null;
}

/** The host in what is checked: `shop.example.com` of `http https://shop.example.com/health`. */
function hostOf({ subject }: Incident): string | null {
  const [, what = ''] = subject.split(' ');
  return hostIn(what) || null;
}

/** The nodes that see it, where others do not. */
function onlyNodes({ votes }: Incident): string | null {
  const own = votes.filter((vote) => !isOwnVote(vote));
  const down = own.filter(({ status }) => status === 'down').map(({ node }) => node);
  const isUp = own.some(({ status }) => status === 'up');
  return isUp && down.length > 0 ? down.toSorted((a, b) => (a < b ? -1 : 1)).join(', ') : null;
}
