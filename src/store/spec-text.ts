import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { CheckSpec } from '#checks/index.ts';

/**
 * What writes specs as people do, which is what the schema reads. Of those that are alike but for their host, as nearly all are that
 * come over the API, only the host is written anew: every type records it in a form that it reads as it is.
 */
export function createSpecTexts(): (spec: CheckSpec) => string {
  const known = new Map<string, { readonly spec: CheckSpec; readonly head: string }>();
  return (spec) => {
    const last = known.get(spec.type);
    if (last !== undefined && isAlike(last.spec, spec)) return `${last.head}${JSON.stringify(spec.host)}}`;
    const { host, ...rest } = z.encode(CheckSpec, spec);
    const head = `${JSON.stringify(rest).slice(0, -1)},"host":`;
    known.set(spec.type, { spec, head });
    return `${head}${JSON.stringify(host)}}`;
  };
}

function isAlike(one: CheckSpec, other: CheckSpec): boolean {
  const keys = Object.keys(one);
  if (keys.length !== Object.keys(other).length) return false;
  return keys.every((key) => key === 'host' || isSameIn(key, one, other));
}

function isSameIn(key: string, one: object, other: object): boolean {
  if (!Object.hasOwn(other, key)) return false;
  const value: unknown = Reflect.get(one, key);
  const theirs: unknown = Reflect.get(other, key);
  return value === theirs || isDeepStrictEqual(value, theirs);
}
