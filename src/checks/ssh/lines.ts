import type { Outcome } from '../outcome.ts';
import type { Detail } from './detail.ts';

/** The server, its host key, and what the command gave. */
export function lines({ detail }: Outcome<Detail>): readonly string[] {
  if (detail === null) return [];
  const { server, host_key, host_key_type, value, exit } = detail;
  return [
    ...(server === null ? [] : [`server       ${server}`]),
    ...(host_key === null ? [] : [`host key     ${host_key}${host_key_type === null ? '' : ` (${host_key_type})`}`]),
    ...(value === null ? [] : [`value        ${value}`]),
    ...(exit === null ? [] : [`exit code    ${exit}`]),
  ];
}
