export interface UrlForm {
  /** Such as `https:`. */
  readonly protocols: readonly string[];
  /** Whether it may have a user, a query or a fragment. */
  readonly bare: boolean;
}

/** Whether a text is a whole URL with a host, of this form. */
export function isUrl(text: string, { protocols, bare }: UrlForm): boolean {
  const url = URL.parse(text);
  if (url === null || !protocols.includes(url.protocol) || url.hostname === '' || !/^[^/]*\/\/./.test(text))
    return false;
  return !bare || [url.username, url.password, url.search, url.hash].every((part) => part === '');
}

export const webForm: UrlForm = { protocols: ['http:', 'https:'], bare: false };

/** Whether a text is an address to call over HTTP. */
export function isWebUrl(text: string): boolean {
  return isUrl(text, webForm);
}
