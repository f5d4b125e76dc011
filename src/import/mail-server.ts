import type { Draft, PlainMap } from './draft.ts';

export interface MailServer {
  readonly host: string;
  readonly port: string;
  /** TLS from the start. */
  readonly isSecure: boolean;
  readonly username: string;
  readonly password: string;
  readonly from: string;
}

/** Makes it the mail server of the draft. There is one only: others are noted. */
export function setMailServer(draft: Draft, place: string, server: MailServer): void {
  const usual = server.isSecure ? '465' : '587';
  const port = server.port === '' || server.port === usual ? '' : `:${server.port}`;
  const url = `${server.isSecure ? 'smtps' : 'smtp'}://${server.host}${port}`;
  const known = draft.sections.get('smtp');
  if (known !== undefined) {
    const same = typeof known === 'object' && known !== null && 'url' in known && known.url === url;
    const text = `there is one mail server for everybody: ${url} from ${server.from} is not used`;
    if (!same && !draft.notes.some((note) => note.text === text)) draft.note('lost', place, text);
    return;
  }
  draft.sections.set('smtp', { url, ...signInOf(draft, server), from: server.from });
}

// A password from the environment stays there; any other gets a file of its own.
function signInOf(draft: Draft, { username, password }: MailServer): PlainMap {
  if (password === '') return {};
  if (/^\$\{\w+\}$/.test(password)) return { username, password };
  return { username, password_file: draft.secret('smtp-password', password) };
}
