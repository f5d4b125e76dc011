import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFakeTime } from './fake-time.ts';
import {
  certificateDays,
  type Command,
  type Mail,
  namesIn,
  type Plan,
  type Report,
  type System,
  type TargetPlan,
} from './system.ts';

// monit(1): "Setting a mail server for alert delivery", "Event queue", "Connection testing" and "Fault tolerance". It has no test
// of the time that an answer takes.

export const monit: System = {
  name: 'Monit',
  packages: ['monit'],
  setUp(plan) {
    const { folder, targets, mailHost, recipients, times } = plan;
    mkdirSync(join(folder, 'events'), { recursive: true });
    const configuration = join(folder, 'monitrc');
    const text = `set daemon ${times.every}
set log ${folder}/monit.log
set pidfile ${folder}/monit.pid
set idfile ${folder}/monit.id
set statefile ${folder}/monit.state
set mailserver ${mailHost} port 25
set eventqueue basedir ${folder}/events slots 100
${recipients.map((address) => `set alert ${address} not on { instance, action }`).join('\n')}
${targets.map((target) => testOf(target, plan)).join('\n')}
`;
    writeFileSync(configuration, text, { mode: 0o600 });
    const commands: readonly Command[] = [{ words: ['monit', '-I', '-c', configuration], restarts: true }];
    return {
      commands,
      configuration,
      check: ['monit', '-t', '-c', configuration],
      ...(plan.needsClock && withFakeTime(folder, commands)),
    };
  },
  read,
  downtimes: null,
};

const testOf = ({ name, host, isTls }: TargetPlan, { times, path }: Plan) => `check host ${name} with address ${host}
  if failed port ${isTls ? 443 : 80} protocol ${isTls ? 'https' : 'http'} request "${path}" with timeout ${times.timeout} seconds for 2 cycles then alert
${isTls ? `  if failed port 443 protocol https and certificate valid > ${certificateDays} days for 2 cycles then alert\n` : ''}`;

function read({ subject, text }: Mail): Report {
  const names = namesIn(`${subject}\n${text}`);
  return /succeeded/i.test(subject) ? { began: [], ended: names } : { began: names, ended: [] };
}
