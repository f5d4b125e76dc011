/** The path and query of a request as a log may hold them: what is as good as a password is left out. */
export function withoutSecret(url: string): string {
  return url.replace(/^\/(beat|acknowledge)\/[^/?#]+/, '/$1/[secret]');
}
