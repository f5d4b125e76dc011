/** A body in the form that HTML forms have, with the header that says so. */
export function formOf(fields: Readonly<Record<string, string>>): {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
} {
  return {
    body: new URLSearchParams(fields).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  };
}

/** The credentials of HTTP's basic authentication (RFC 7617). */
export function basicCredentials(user: string, password: string): string {
  return Buffer.from(`${user}:${password}`).toString('base64');
}
