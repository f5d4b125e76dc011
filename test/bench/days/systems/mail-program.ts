import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

// What Icinga and Nagios call as mail(1): hands the mail to the mail server at once, by SMTP, and fails if that does not take it.
const script = (mailHost: string) => `#!/bin/sh
while getopts a:s: option; do
  case $option in s) subject=$OPTARG ;; *) ;; esac
done
shift $((OPTIND - 1))
{ printf 'From: monitor@example.org\\r\\nTo: %s\\r\\nSubject: %s\\r\\nDate: %s\\r\\n\\r\\n' "$1" "$subject" "$(date -R)"; cat; } |
  curl --silent --show-error --max-time 60 --url smtp://${mailHost}:25 --mail-from monitor@example.org --mail-rcpt "$1" --upload-file -
`;

/** Writes the program into the folder and returns its path. */
export function writeMailProgram(folder: string, mailHost: string): string {
  const path = join(folder, 'mail');
  writeFileSync(path, script(mailHost), { mode: 0o755 });
  return path;
}
