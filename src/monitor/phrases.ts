/** `is still down`, `still loses packets`, out of `is down` and `loses packets`. */
export function still(is: string): string {
  return is.startsWith('is ') ? `is still ${is.slice(3)}` : `still ${is}`;
}
