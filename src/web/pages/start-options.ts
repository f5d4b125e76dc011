import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { CheckSpec, checkOf } from '#checks/index.ts';

/** The options with which `/api/v1/checks` starts the check of a spec again, without those that have their defaults. */
export function startOptionsOf(spec: CheckSpec): Readonly<Record<string, unknown>> {
  const { apiOptions, overApi, isForTargets } = checkOf(spec.type);
  if (isForTargets) return {};
  const plain = encoded(CheckSpec.parse({ ...overApi, type: spec.type, host: spec.host }));
  const written = encoded(spec);
  const keys = Object.keys(apiOptions.shape).filter((key) => !isDeepStrictEqual(written.get(key), plain.get(key)));
  return Object.fromEntries(keys.map((key) => [key, written.get(key)]));
}

const encoded = (spec: CheckSpec): ReadonlyMap<string, unknown> => new Map(Object.entries(z.encode(CheckSpec, spec)));
