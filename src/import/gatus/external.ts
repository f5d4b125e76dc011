import type { EnvironmentVariables } from '#config/read/environment.ts';
import { find, type SourceNode } from '#config/read/located.ts';
import { sha256 } from '#kernel/hash.ts';
import { durationWithin, foreignDuration } from '../convert.ts';
import { type Draft, labelsOf } from '../draft.ts';
import { placeAt } from '../source.ts';
import { type readAlerting, expandVariable } from './alerting.ts';
import { ExternalEndpoint } from './schema.ts';

interface ExternalEndpointContext {
  readonly draft: Draft;
  readonly alerting: ReturnType<typeof readAlerting>;
  readonly env: EnvironmentVariables;
}

const longestMs = 2_592_000_000;

/** Adds an external endpoint as a job that calls, with the secret that it has. */
export function addExternal(
  root: SourceNode,
  path: readonly (string | number)[],
  { draft, alerting, env }: ExternalEndpointContext,
): void {
  const place = placeAt(root, path);
  const read = ExternalEndpoint.safeParse(find(root, path)?.value);
  if (!read.success) return draft.note('left out', place, 'an external endpoint that cannot be read');
  const { name, group, enabled, alerts, heartbeat, token: written } = read.data;
  const title = group === '' ? name : `${group}/${name}`;
  if (!enabled) return draft.note('left out', place, `${title}: it is not enabled`);
  const token = expandVariable(written, env);
  if (token === null || token === '')
    return draft.note('left out', place, `${title}: its token is not known now, and its hash has to be written down`);
  draft.note('differs', place, `${title}: it has to call /beat/<token> here, and /beat/<token>/fail if it failed`);
  const everyMs = foreignDuration(heartbeat.interval) ?? 0;
  if (everyMs === 0)
    draft.note('differs', place, `${title}: it has no interval, and is late after 30 days without a ping`);
  const { rule, notify } = alerting(alerts, { title, group, place });
  draft.target({
    place,
    title,
    origin: null,
    keys: {
      check: 'heartbeat',
      secret_hash: sha256(token),
      grace: '1s',
      every: durationWithin(everyMs === 0 ? longestMs : everyMs, 1_000, longestMs),
      rules: [rule],
      notify,
      labels: labelsOf([['group', group], ...Object.entries(read.data['extra-labels'])]),
    },
  });
}
