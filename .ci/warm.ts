import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';

// Runs the program of the image once, so that the image brings its compiled code along: a read-only root keeps none.

const config = '/tmp/warm.yaml';
writeFileSync(
  config,
  `data: /tmp/warm.db
http: { listen: 127.0.0.1:18099 }
service: {}
targets: { web: { check: http, host: "http://127.0.0.1:18099/healthz", every: 1s, timeout: 900ms } }
notify: { ops: { email: { to: [ops@example.com] } } }
`,
);
const daemon = spawn('node', ['src/watchpost.js', 'run', '--config', config], { stdio: 'inherit' });
const isWell = () => spawnSync('node', ['src/watchpost.js', 'health', '--ready', '--config', config]).status === 0;
for (const end = performance.now() + 60_000; !isWell();) {
  if (daemon.exitCode !== null || performance.now() > end) throw new Error('the program did not start');
}
daemon.kill('SIGTERM');
const [code] = await once(daemon, 'exit');
if (code !== 0) throw new Error(`the program ended with ${code}`);
