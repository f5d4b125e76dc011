import { z } from 'zod';
import { channelTypes } from '#channels/index.ts';
import { PluginCommands } from '#checks/index.ts';
import { Evidence } from './evidence.ts';
import { Export } from './export.ts';
import { FilePath } from '#kernel/file-path.ts';
import { remade } from '#kernel/remade.ts';
import { Rule } from '#monitor/judge/rule.ts';
import { ForeignService } from './foreign-service.ts';
import { Groups } from './groups.ts';
import { MaintenanceList } from './maintenance.ts';
import { Heartbeat, Notify, Summary } from './notify.ts';
import { MetricsKeys } from './metrics.ts';
import { OwnService } from './own-service.ts';
import { StatusPages } from './pages.ts';
import { Http, Hubs, Name, Nats, Nodes, Retention } from './sections.ts';
import { Defaults, Target } from './target.ts';
import { TargetsFrom } from './targets-from.ts';

const ConfigKeys = z.strictObject({
  writable: z
    .boolean()
    .default(false)
    .describe(
      'Whether users who have signed in may add, edit and remove targets on pages; the files must be writable.',
    ),
});

const channelSections: object = Object.assign({}, ...channelTypes.map(({ sections }) => sections));

export const usualData = 'data/watchpost.db';

/** Everything that a configuration may say, with every default. A daemon needs it at its start and at reloads only. */
export const ConfigFile = remade(() =>
  z
    .strictObject({
      data: FilePath.default(usualData).describe(
        'The database file. Without smtp, mails are written to the folder mail beside it.',
      ),
      http: Http.prefault({}).describe('The web server.'),
      service: z
        .union([OwnService, ForeignService])
        .optional()
        .describe(
          'The check service in this process, for others; or with url another one that runs the checks. Default: none.',
        ),
      nodes: Nodes.describe('The nodes that run inside this process, by name. Default: one, zz1, at an unknown place.'),
      asn_file: FilePath.optional().describe(
        'A file of AS names for the hops of paths, in the format of ip2asn, compressed if its name ends in .gz. Default: none.',
      ),
      languages: FilePath.optional().describe(
        'A folder with languages of status pages besides those that come with Watchpost: a file for each, such as nl.json. Default: none.',
      ),
      docker_socket: FilePath.optional().describe(
        'The unix socket of the container engine that checks of the type docker ask, such as /run/docker.sock. Default: none.',
      ),
      systemd_socket: FilePath.optional().describe(
        'The unix socket of the message bus over which checks of the type systemd ask, such as /run/dbus/system_bus_socket. Default: none.',
      ),
      plugins: PluginCommands,
      nats: Nats.optional().describe('Where nodes on other machines join. Without it there are none.'),
      hubs: Hubs.optional().describe(
        'This hub is one of several that share one history over nats. Default: it is the only one.',
      ),
      ...channelSections,
      defaults: Defaults().prefault({}).describe('What holds for a target that does not say otherwise.'),
      targets: z
        .record(Name, Target(), { error: 'expected a map of targets, such as "shop: { check: ..., host: ... }"' })
        .refine((targets) => Object.keys(targets).length > 0, { error: 'needs at least one target' })
        .optional()
        .describe(
          'What is watched, by name. The name is the identity of a target: its history and metrics stay with it.',
        ),
      targets_from: TargetsFrom,
      config: ConfigKeys.prefault({}).describe('What Watchpost itself may change of its configuration.'),
      groups: Groups,
      rules: z.record(Name, Rule).default({}).describe('When to notify, by name. A rule named down always exists.'),
      notify: z.record(Name, Notify).default({}).describe('The recipients, by name.'),
      heartbeat: Heartbeat.optional().describe(
        "A dead man's switch: called only while everything works. Default: none.",
      ),
      summary: Summary.optional().describe('A regular mail about how things went. Default: none.'),
      maintenance: MaintenanceList,
      pages: StatusPages,
      metrics: MetricsKeys.prefault({}).describe('What /metrics shows.'),
      export: Export.prefault({}).describe('Where results and metrics are sent to.'),
      evidence: Evidence.default(true).describe(
        'What nodes gather about failures, at the moment they happen: true, false, or a map.',
      ),
      retention: Retention.prefault({}).describe('How long things are kept.'),
    })
    .describe('The configuration of Watchpost.'),
);
export type ConfigFile = z.output<ReturnType<typeof ConfigFile>>;

/** The JSON Schema (draft 7) of a configuration file: what editors complete and check by. */
export function configJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(ConfigFile(), {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override({ zodSchema, jsonSchema }) {
      const { def } = zodSchema._zod;
      // A default is kept as the program sees it; people write durations.
      if (def.type === 'default') jsonSchema.default = z.encode(def.innerType, def.defaultValue);
    },
  });
  return { ...withShortForms(schema), title: 'Watchpost configuration' };
}

// What is spelt out before a file is judged: `hosts` instead of `host`, and a place for anchors.
function withShortForms(schema: z.core.JSONSchema.BaseSchema): z.core.JSONSchema.BaseSchema {
  const targets = schema.properties?.['targets'];
  const forms =
    typeof targets === 'object' && typeof targets.additionalProperties === 'object'
      ? targets.additionalProperties.oneOf
      : [];
  for (const form of forms ?? []) {
    if (typeof form === 'object') form.required = (form.required ?? []).filter((key) => key !== 'host');
  }
  return { ...schema, patternProperties: { '^x-': { description: 'Anything: a place for YAML anchors.' } } };
}
