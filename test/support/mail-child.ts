import { startSmtp } from './smtp.ts';

// A mail server for another process: prints the subject of each mail that it takes.

const sink = await startSmtp({ listen: { host: '0.0.0.0', port: Number(process.argv[2]) } });
for (let count = 1; ; count += 1) {
  const mail = (await sink.mails(count))[count - 1];
  process.stdout.write(`${mail?.mail.subject ?? ''}\n`);
}
