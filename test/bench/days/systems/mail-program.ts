import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from './system.ts';

// Icinga and Nagios hand their mails to mail(1), and that to a mail transfer agent on the same machine, which has a queue and retries.
// These two scripts stand for both: one puts the mail into a queue, the other offers it to the mail server at once, and every ten seconds until that takes it.

const mail = (queue: string) => `#!/bin/sh
while getopts a:s: option; do
  case $option in s) subject=$OPTARG ;; *) ;; esac
done
shift $((OPTIND - 1))
file=$(mktemp ${queue}/new.XXXXXXXXXX) || exit 75
{ printf 'From: monitor@example.org\\r\\nTo: %s\\r\\nSubject: %s\\r\\nDate: %s\\r\\n\\r\\n' "$1" "$subject" "$(date -R)" && cat; } >"$file" || exit 75
mv "$file" "$file.$1"
`;

// What is refused for good (550) would be returned to the sender, which is a program.
const transferAgent = (queue: string, mailHost: string) => `#!/bin/sh
while :; do
  for file in ${queue}/new.*@*[!~]; do
    [ -f "$file" ] || continue
    [ ! -f "$file~" ] || [ -z "$(find "$file~" -newermt '10 seconds ago')" ] || continue
    recipient=$(expr "$file" : '.*/new[.][^.]*[.]\\(.*\\)')
    output=$(curl --silent --show-error --connect-timeout 10 --max-time 300 --url smtp://${mailHost}:25 --mail-from monitor@example.org --mail-rcpt "$recipient" --upload-file "$file" 2>&1)
    code=$?
    echo "$(date +%T) $file: $code $output"
    case "$code $output" in "0 "* | *" 55"[0-9]*) rm -f "$file" "$file~" ;; *) touch "$file~" ;; esac
  done
  sleep 1
done
`;

export interface MailProgram {
  /** The path of what is called as mail(1). */
  readonly path: string;
  /** To be started beside the system. */
  readonly command: Command;
}

/** Writes both programs into the folder; the queue is beside it, on another disk than the system's. */
export function writeMailProgram(folder: string, mailHost: string): MailProgram {
  const queue = `${folder}-queue`;
  mkdirSync(queue, { recursive: true });
  const path = join(folder, 'mail');
  writeFileSync(path, mail(queue), { mode: 0o755 });
  const agent = join(folder, 'transfer-agent');
  writeFileSync(agent, transferAgent(queue, mailHost), { mode: 0o755 });
  return { path, command: { words: [agent], isApart: true } };
}
