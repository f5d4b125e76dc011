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
} from './system.ts';

// https://icinga.com/docs/icinga-2/2.13/doc/03-monitoring-basics/ (templates, apply rules, notifications, dependencies on a parent),
// 14-features (CompatLogger), and the files that the package has in /etc/icinga2/conf.d, with its own script for mails; times a sixth of theirs, as for all.

export const icinga: System = {
  name: 'Icinga 2',
  packages: ['icinga2-bin', 'monitoring-plugins-basic'],
  setUp(plan) {
    const { folder, mailHost } = plan;
    const configuration = join(folder, 'icinga2.conf');
    writeFileSync(configuration, configurationOf(plan));
    // The daemon has fixed places for what it keeps; the namespace of mounts puts them into the folder.
    const places = ['/var/lib/icinga2', '/var/log/icinga2', '/var/cache/icinga2', '/run/icinga2'];
    const mounts = places.map((place, index) => {
      const own = join(folder, `place-${index}`);
      mkdirSync(own, { recursive: true });
      return `mkdir -p ${place} && mount --bind ${own} ${place}`;
    });
    for (const own of ['place-0/certs', 'place-1/compat/archives']) mkdirSync(join(folder, own), { recursive: true });
    const mail = writeMailProgram(folder, mailHost);
    // Its script for mails finds mail(1) by the path.
    const path = `${folder}:${process.env['PATH'] ?? ''}`;
    const environment = { ICINGA2_USER: 'root', ICINGA2_GROUP: 'root', PATH: path };
    const start = `${mounts.join(' && ')} && exec icinga2 daemon -c ${configuration}`;
    const commands: readonly Command[] = [
      { words: ['unshare', '--mount', 'sh', '-c', start], environment },
      mail.command,
    ];
    return {
      commands,
      configuration,
      check: ['env', 'ICINGA2_USER=root', 'ICINGA2_GROUP=root', 'icinga2', 'daemon', '--validate', '-c', configuration],
      ...(plan.needsClock && withFakeTime(folder, commands)),
    };
  },
  read,
  // Its own history without a database: the log that the CompatLogger feature writes in Nagios' format.
  downtimes: (past) =>
    downtimesOfLogs(globSync(join(past.folder, 'place-1', 'compat', '{archives/,}*.log')), 'http', past),
};

function configurationOf({ targets, recipients, gateway, times, path }: Plan): string {
  return `include "/etc/icinga2/constants.conf"
include <itl>
include <plugins>
object CheckerComponent "checker" { }
object NotificationComponent "notification" { }
object CompatLogger "compatlog" { }
include "/etc/icinga2/conf.d/commands.conf"
include "/etc/icinga2/conf.d/timeperiods.conf"
object Endpoint NodeName { }
object Zone ZoneName { endpoints = [ NodeName ] }

template Host "generic-host" {
  max_check_attempts = ${attempts}
  check_interval = ${times.every}s
  retry_interval = ${times.retry}s
  check_command = "hostalive"
}
template Service "generic-service" {
  max_check_attempts = ${attempts}
  check_interval = ${times.every}s
  retry_interval = ${times.retry}s
}

object Host "gateway" { import "generic-host"; address = "${gateway}" }
${targets.map(hostOf).join('\n')}

apply Service "http" {
  import "generic-service"
  check_command = "http"
  vars.http_timeout = ${times.timeout}
  vars.http_warn_time = ${slowerThan}
  vars.http_uri = "${path}"
  vars.http_ssl = host.vars.tls
  vars.http_sni = host.vars.tls
  assign where host.vars.web
}
apply Service "certificate" {
  import "generic-service"
  check_command = "http"
  vars.http_certificate = "${certificateDays}"
  vars.http_sni = true
  assign where host.vars.tls
}
apply Dependency "gateway" to Host {
  parent_host_name = "gateway"
  disable_checks = true
  disable_notifications = true
  assign where host.vars.web
}
apply Dependency "gateway" to Service {
  parent_host_name = "gateway"
  disable_checks = true
  disable_notifications = true
  assign where host.vars.web
}

${recipients.map((address, index) => `object User "user-${index}" { email = "${address}" }`).join('\n')}
${['Host', 'Service']
  .map(
    (kind) => `apply Notification "mail" to ${kind} {
  command = "mail-${kind.toLowerCase()}-notification"
  users = [ ${recipients.map((_, index) => `"user-${index}"`).join(', ')} ]
  states = [ ${kind === 'Host' ? 'Up, Down' : 'OK, Warning, Critical, Unknown'} ]
  types = [ Problem, Recovery ]
  period = "24x7"
  interval = 0
  assign where ${kind === 'Host' ? 'true' : 'host.vars.web'}
}`,
  )
  .join('\n')}
`;
}

const hostOf = ({ name, host, isTls }: TargetPlan) =>
  `object Host "${name}" { import "generic-host"; address = "${host}"; vars.web = true${isTls ? '; vars.tls = true' : ''} }`;

function read({ subject }: Mail): Report {
  const names = namesIn(subject);
  return subject.startsWith('[RECOVERY]') ? { began: [], ended: names } : { began: names, ended: [] };
}
