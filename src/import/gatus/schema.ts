import { z } from 'zod';

// Only what is carried over or mentioned in the report; everything else may be there.

export const Text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
const Texts = z.record(z.string(), Text).default({});

export const GatusAlert = z.looseObject({
  type: Text,
  enabled: z.boolean().optional(),
  'failure-threshold': z.int().optional(),
  'success-threshold': z.int().optional(),
  'minimum-reminder-interval': Text.optional(),
  description: Text.optional(),
  'send-on-resolved': z.boolean().optional(),
  'provider-override': z.looseObject({}).optional(),
});
export type GatusAlert = z.output<typeof GatusAlert>;

export const GatusMaintenance = z.looseObject({
  enabled: z.boolean().default(true),
  start: Text.default(''),
  duration: Text.default(''),
  timezone: Text.optional(),
  every: z.array(Text).default([]),
});
export type GatusMaintenance = z.output<typeof GatusMaintenance>;

const GatusClient = z.looseObject({
  insecure: z.boolean().default(false),
  'ignore-redirect': z.boolean().default(false),
  timeout: Text.default('10s'),
  network: Text.default('ip'),
  'proxy-url': Text.optional(),
  'dns-resolver': Text.optional(),
  oauth2: z
    .looseObject({
      'token-url': Text.default(''),
      'client-id': Text.default(''),
      'client-secret': Text.default(''),
      scopes: z.array(Text).default([]),
    })
    .optional(),
  'identity-aware-proxy': z.looseObject({}).optional(),
  tunnel: Text.optional(),
  tls: z.looseObject({ 'certificate-file': Text.optional(), 'private-key-file': Text.optional() }).optional(),
});
export type GatusClient = z.output<typeof GatusClient>;

export const GatusEndpoint = z.looseObject({
  enabled: z.boolean().default(true),
  name: Text,
  group: Text.default(''),
  url: Text,
  method: Text.default('GET'),
  body: Text.default(''),
  graphql: z.boolean().default(false),
  headers: Texts,
  interval: Text.default('60s'),
  conditions: z.array(Text).default([]),
  alerts: z.array(GatusAlert).default([]),
  'extra-labels': Texts,
  'maintenance-windows': z.array(GatusMaintenance).default([]),
  client: GatusClient.prefault({}),
  dns: z.looseObject({ 'query-type': Text.default(''), 'query-name': Text.default('') }).optional(),
  ssh: z
    .looseObject({
      username: Text.default(''),
      password: Text.default(''),
      'private-key': Text.default(''),
      passphrase: Text.default(''),
    })
    .optional(),
});
export type GatusEndpoint = z.output<typeof GatusEndpoint>;

export const GatusSuite = z.looseObject({
  enabled: z.boolean().default(true),
  name: Text,
  group: Text.default(''),
  interval: Text.default('60s'),
  timeout: Text.default('10m'),
  context: Texts,
  endpoints: z.array(GatusEndpoint.extend({ store: Texts, 'always-run': z.boolean().default(false) })).default([]),
});
export type GatusSuite = z.output<typeof GatusSuite>;

export const ExternalEndpoint = z.looseObject({
  enabled: z.boolean().default(true),
  name: Text,
  group: Text.default(''),
  alerts: z.array(GatusAlert).default([]),
  token: Text.default(''),
  heartbeat: z.looseObject({ interval: Text.default('0s') }).prefault({}),
  'extra-labels': Texts,
});

export const Provider = z.looseObject({
  'default-alert': GatusAlert.partial().loose().optional(),
  overrides: z.array(z.looseObject({ group: Text.default('') })).default([]),
});
