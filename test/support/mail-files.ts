import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import PostalMime, { type Email } from 'postal-mime';

/** The mails that a program without a mail server has written beside its configuration, the oldest first; not one that it is writing. */
export async function mailsIn(folder: string): Promise<readonly Email[]> {
  const files = globSync(join(folder, 'mail', '*.eml')).toSorted();
  return Promise.all(files.map(async (file) => PostalMime.parse(readFileSync(file))));
}
