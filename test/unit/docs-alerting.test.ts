import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const root = new URL('../../', import.meta.url).pathname;
const read = (path: string) => readFileSync(`${root}${path}`, 'utf8');

test.each(['opened', 'update', 'resolved', 'group-opened', 'digest', 'summary'])(
  'the document on alerts shows the mail of the kind %s as it is',
  (kind) => {
    expect(read('docs/alerting.md')).toContain(`\`\`\`\n${read(`test/fixtures/mail/${kind}.txt`)}\`\`\`\n`);
  },
);

test.each(['late', 'reminder', 'closed'])('it shows the subject of the kind %s as it is', (kind) => {
  const [subject = ''] = read(`test/fixtures/mail/${kind}.txt`).split('\n');
  expect(read('docs/alerting.md')).toContain(` | \`${subject}\` |\n`);
});
