import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  certificateDays,
  type Mail,
  namesIn,
  type Past,
  type Report,
  slowerThan,
  type System,
  type Times,
  urlOf,
} from './system.ts';

// https://github.com/prometheus/blackbox_exporter#prometheus-configuration (scraping by relabelling),
// https://prometheus.io/docs/guides/multi-target-exporter/, https://prometheus.io/docs/prometheus/latest/configuration/alerting_rules/
// (`for`, annotations), https://prometheus.io/docs/alerting/latest/configuration/ (route, inhibit_rules, email_config).

const ports = { prometheus: 9090, blackbox: 9115, alertmanager: 9093 };

const relabelling = [
  { source_labels: ['__address__'], target_label: '__param_target' },
  { source_labels: ['__param_target'], target_label: 'instance' },
  { target_label: '__address__', replacement: `127.0.0.1:${ports.blackbox}` },
];

const rulesOf = ({ every, retry }: Times) => ({
  groups: [
    {
      name: 'probes',
      rules: [
        {
          alert: 'GatewayDown',
          expr: 'probe_success{job="gateway"} == 0',
          for: `${retry}s`,
          labels: { severity: 'critical' },
          annotations: { summary: 'Gateway down' },
        },
        {
          alert: 'TargetDown',
          expr: 'probe_success{job="blackbox"} == 0',
          for: `${every + retry}s`,
          labels: { severity: 'page' },
          annotations: {
            summary: 'Target {{ $labels.target }} down',
            description: `{{ $labels.instance }} of job {{ $labels.job }} has been down for more than ${every + retry} seconds.`,
          },
        },
        {
          alert: 'TargetSlow',
          expr: `probe_duration_seconds{job="blackbox"} > ${slowerThan} and probe_success == 1`,
          for: `${2 * every}s`,
          labels: { severity: 'warning' },
          annotations: {
            summary: 'High response time of {{ $labels.target }}',
            description: '{{ $labels.instance }} has a response time of {{ $value }} s.',
          },
        },
        {
          alert: 'CertificateExpires',
          expr: `probe_ssl_earliest_cert_expiry - time() < 86400 * ${certificateDays}`,
          for: `${every}s`,
          labels: { severity: 'warning' },
          annotations: {
            summary: 'Certificate of {{ $labels.target }} expires soon',
            description: 'The certificate expires in {{ $value | humanizeDuration }}.',
          },
        },
      ],
    },
  ],
});

const inhibition = {
  source_matchers: ['alertname="GatewayDown"'],
  target_matchers: ['alertname=~"TargetDown|TargetSlow"'],
};

export const prometheus: System = {
  name: 'Prometheus with blackbox_exporter and Alertmanager',
  packages: ['prometheus', 'prometheus-blackbox-exporter', 'prometheus-alertmanager'],
  setUp({ folder, targets, mailHost, recipients, authority, gateway, times, path }) {
    const file = (name: string, content: object) => {
      // JSON is YAML.
      writeFileSync(join(folder, name), JSON.stringify(content, null, 1));
      return join(folder, name);
    };
    file('rules.yml', rulesOf(times));
    const blackbox = file('blackbox.yml', {
      modules: {
        http_2xx: {
          prober: 'http',
          timeout: `${times.timeout}s`,
          http: { preferred_ip_protocol: 'ip4', tls_config: { ca_file: authority } },
        },
        icmp: { prober: 'icmp', timeout: `${times.timeout}s`, icmp: { preferred_ip_protocol: 'ip4' } },
      },
    });
    const configuration = file('prometheus.yml', {
      global: { scrape_interval: `${times.every}s`, evaluation_interval: `${times.every}s` },
      rule_files: ['rules.yml'],
      alerting: { alertmanagers: [{ static_configs: [{ targets: [`127.0.0.1:${ports.alertmanager}`] }] }] },
      scrape_configs: [
        {
          job_name: 'blackbox',
          metrics_path: '/probe',
          params: { module: ['http_2xx'] },
          static_configs: targets.map((target) => ({
            targets: [urlOf(target, path)],
            labels: { target: target.name },
          })),
          relabel_configs: relabelling,
        },
        {
          job_name: 'gateway',
          metrics_path: '/probe',
          params: { module: ['icmp'] },
          static_configs: [{ targets: [gateway] }],
          relabel_configs: relabelling,
        },
      ],
    });
    const alertmanager = file('alertmanager.yml', {
      global: { smtp_smarthost: `${mailHost}:25`, smtp_from: 'alertmanager@example.org', smtp_require_tls: false },
      route: {
        receiver: 'team-mails',
        group_by: ['alertname'],
        group_wait: `${times.groupWait}s`,
        group_interval: `${times.groupInterval}s`,
        repeat_interval: '3h',
      },
      inhibit_rules: [inhibition],
      receivers: [{ name: 'team-mails', email_configs: recipients.map((to) => ({ to, send_resolved: true })) }],
    });
    const listen = (port: number) => `--web.listen-address=127.0.0.1:${port}`;
    return {
      commands: [
        {
          words: [
            'prometheus',
            `--config.file=${configuration}`,
            `--storage.tsdb.path=${join(folder, 'metrics')}`,
            listen(ports.prometheus),
          ],
          restarts: true,
        },
        {
          words: ['prometheus-blackbox-exporter', `--config.file=${blackbox}`, listen(ports.blackbox)],
          restarts: true,
        },
        {
          words: [
            'prometheus-alertmanager',
            `--config.file=${alertmanager}`,
            `--storage.path=${join(folder, 'alerts')}`,
            '--cluster.listen-address=',
            listen(ports.alertmanager),
          ],
          restarts: true,
        },
      ],
      configuration,
      check: null,
    };
  },
  read,
  downtimes,
};

// The mail lists the alerts that fire, then under a heading of their own those that are resolved.
function read({ text }: Mail): Report {
  const [firing = '', resolved = ''] = text.split(/\[\d+\] Resolved/);
  return { began: namesIn(firing), ended: namesIn(resolved) };
}

// What dashboards show as uptime is the mean of the samples of that time; the rest is downtime.
function downtimes({ from, to, run }: Past): ReadonlyMap<string, number> {
  const lengthSeconds = Math.round((to - from) / 1_000);
  const query = `avg_over_time(probe_success{job="blackbox"}[${lengthSeconds}s])`;
  const url = `http://127.0.0.1:${ports.prometheus}/api/v1/query`;
  const answer = run(['curl', '-sS', '-G', url, '-d', `time=${to / 1_000}`, '--data-urlencode', `query=${query}`]);
  const { data } = JSON.parse(answer) as {
    data: { result: readonly { metric: { target: string }; value: readonly [number, string] }[] };
  };
  return new Map(data.result.map(({ metric, value }) => [metric.target, (1 - Number(value[1])) * lengthSeconds]));
}
