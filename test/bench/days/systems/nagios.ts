import { globSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withFakeTime } from './fake-time.ts';
import { downtimesOfLogs } from './hard-states.ts';
import { writeMailProgram } from './mail-program.ts';
import {
  attempts,
  certificateDays,
  type Command,
  type Mail,
  namesIn,
  type Plan,
  type Report,
  slowerThan,
  type System,
  type TargetPlan,
  type Times,
} from './system.ts';

// https://assets.nagios.com/downloads/nagioscore/docs/nagioscore/4/en/ (objectdefinitions, monitoring-publicservices,
// networkreachability for parents), and the files that the package has in /etc/nagios4: its templates, nagios.cfg and commands for
// mails, with intervals of these days.

export const nagios: System = {
  name: 'Nagios 4',
  packages: ['nagios4-core', 'monitoring-plugins-basic'],
  setUp(plan) {
    const { folder, mailHost } = plan;
    for (const name of ['results', 'rw', 'archives']) mkdirSync(join(folder, name), { recursive: true });
    const configuration = join(folder, 'objects.cfg');
    const mail = writeMailProgram(folder, mailHost);
    writeFileSync(configuration, objectsOf(plan, mail.path));
    const main = join(folder, 'nagios.cfg');
    writeFileSync(main, mainOf(folder, configuration));
    const commands: readonly Command[] = [{ words: ['nagios4', main] }, mail.command];
    return { commands, configuration, check: null, ...(plan.needsClock && withFakeTime(folder, commands)) };
  },
  read,
  downtimes: (past) => downtimesOfLogs(globSync(join(past.folder, '{archives/,}*.log')), 'HTTP', past),
};

const mainOf = (folder: string, objects: string) => `log_file=${folder}/nagios.log
cfg_file=/etc/nagios4/objects/timeperiods.cfg
cfg_file=/etc/nagios4/objects/templates.cfg
cfg_file=${objects}
object_cache_file=${folder}/objects.cache
precached_object_file=${folder}/objects.precache
resource_file=/etc/nagios4/resource.cfg
status_file=${folder}/status.dat
nagios_user=root
nagios_group=root
command_file=${folder}/rw/nagios.cmd
query_socket=${folder}/rw/nagios.qh
lock_file=${folder}/nagios.pid
temp_file=${folder}/nagios.tmp
log_archive_path=${folder}/archives
check_result_path=${folder}/results
state_retention_file=${folder}/retention.dat
retain_state_information=1
retention_update_interval=60
use_retained_program_state=1
use_retained_scheduling_info=1
interval_length=1
check_result_reaper_frequency=10
max_service_check_spread=30
max_host_check_spread=30
enable_notifications=1
notification_timeout=30
enable_flap_detection=1
use_syslog=0
check_for_updates=0
illegal_macro_output_chars=\`~$&|'"<>
`;

function objectsOf({ targets, recipients, gateway, times, path }: Plan, mail: string): string {
  const http = `$USER1$/check_http -H '$HOSTADDRESS$' -t ${times.timeout}`;
  return `${object('command', {
    command_name: 'check-host-alive',
    command_line: '$USER1$/check_ping -H $HOSTADDRESS$ -w 3000.0,80% -c 5000.0,100% -p 1',
  })}
${object('command', { command_name: 'check_http', command_line: `${http} -w ${slowerThan} -u ${path}` })}
${object('command', { command_name: 'check_https', command_line: `${http} -w ${slowerThan} -u ${path} -S --sni` })}
${object('command', { command_name: 'check_certificate', command_line: `${http} --sni -C ${certificateDays}` })}
${object('command', {
  command_name: 'notify-host-by-email',
  command_line: String.raw`/usr/bin/printf "%b" "***** Nagios *****\n\nNotification Type: $NOTIFICATIONTYPE$\nHost: $HOSTNAME$\nState: $HOSTSTATE$\nAddress: $HOSTADDRESS$\nInfo: $HOSTOUTPUT$\n\nDate/Time: $LONGDATETIME$\n" | ${mail} -s "** $NOTIFICATIONTYPE$ Host Alert: $HOSTNAME$ is $HOSTSTATE$ **" $CONTACTEMAIL$`,
})}
${object('command', {
  command_name: 'notify-service-by-email',
  command_line: String.raw`/usr/bin/printf "%b" "***** Nagios *****\n\nNotification Type: $NOTIFICATIONTYPE$\n\nService: $SERVICEDESC$\nHost: $HOSTALIAS$\nAddress: $HOSTADDRESS$\nState: $SERVICESTATE$\n\nDate/Time: $LONGDATETIME$\n\nAdditional Info:\n\n$SERVICEOUTPUT$\n" | ${mail} -s "** $NOTIFICATIONTYPE$ Service Alert: $HOSTALIAS$/$SERVICEDESC$ is $SERVICESTATE$ **" $CONTACTEMAIL$`,
})}
${recipients
  .map((address, index) =>
    object('contact', {
      contact_name: `contact-${index}`,
      use: 'generic-contact',
      service_notification_options: 'w,u,c,r',
      host_notification_options: 'd,r',
      email: address,
    }),
  )
  .join('\n')}
${object('contactgroup', { contactgroup_name: 'admins', members: recipients.map((_, index) => `contact-${index}`).join(',') })}
${hostOf('gateway', gateway, null, times)}
${targets.map((target) => targetOf(target, times)).join('\n')}
`;
}

const intervalsOf = ({ every, retry }: Times) => ({
  max_check_attempts: String(attempts),
  check_interval: String(every),
  retry_interval: String(retry),
  notification_interval: '0',
});

function hostOf(name: string, address: string, parent: string | null, times: Times): string {
  return object('host', {
    use: 'generic-host',
    host_name: name,
    alias: name,
    address,
    ...(parent !== null && { parents: parent }),
    check_command: 'check-host-alive',
    check_period: '24x7',
    notification_options: 'd,r',
    contact_groups: 'admins',
    ...intervalsOf(times),
  });
}

function targetOf({ name, host, isTls }: TargetPlan, times: Times): string {
  const service = (description: string, command: string) =>
    object('service', {
      use: 'generic-service',
      host_name: name,
      service_description: description,
      check_command: command,
      ...intervalsOf(times),
    });
  return [
    hostOf(name, host, 'gateway', times),
    service('HTTP', isTls ? 'check_https' : 'check_http'),
    ...(isTls ? [service('Certificate', 'check_certificate')] : []),
  ].join('\n');
}

function object(kind: string, fields: Readonly<Record<string, string>>): string {
  const lines = Object.entries(fields).map(([key, value]) => `  ${key} ${value.replaceAll(';', String.raw`\;`)}\n`);
  return `define ${kind} {\n${lines.join('')}}`;
}

function read({ subject }: Mail): Report {
  const names = namesIn(subject);
  return subject.startsWith('** RECOVERY') ? { began: [], ended: names } : { began: names, ended: [] };
}
