import { isIP } from 'node:net';
import { z } from 'zod';
import { parseEndpoint } from '#checks/index.ts';
import { FilePath } from '#kernel/file-path.ts';
import { SecretHeaders } from '#kernel/headers.ts';
import { always, refuseBoth } from '#kernel/refine.ts';
import { Duration } from '#kernel/unit-schemas.ts';
import { BareWebUrl, SecretUrl } from '#kernel/url.ts';
import { Name } from './sections.ts';
import { Names } from './target.ts';

const Ask = z
  .strictObject({
    every: Duration({ min: '1s', max: '1d' })
      .default(60_000)
      .describe('How often the address, the name server, the engine or the API server is asked.'),
    token_file: FilePath.optional().describe('A file that holds a bearer token. Default: none is sent.'),
    ca_file: FilePath.optional().describe('A file of PEM certificates to trust instead of the usual authorities.'),
    headers: SecretHeaders.describe('Headers to send besides.'),
    server: z
      .string()
      .refine(isServer, { error: 'expected the address of a name server, such as "127.0.0.1:8600"' })
      .optional()
      .describe("For srv: the name server to ask. Default: this machine's."),
  })
  .describe('How the address, the name server, the engine or the API server is asked.');

function isServer(written: string): boolean {
  const parsed = parseEndpoint(written);
  return parsed.ok && isIP(parsed.name) !== 0 && parsed.scheme === null && parsed.path === null;
}

export const kubernetesKinds = ['ingress', 'httproute', 'gateway', 'service'] as const;
export type KubernetesKind = (typeof kubernetesKinds)[number];

const Kubernetes = z
  .strictObject({
    url: BareWebUrl('expected the address of an API server, such as "https://10.0.0.1:6443"')
      .optional()
      .describe('The API server. Default: that of the cluster that this runs in, with the service account of its pod.'),
    kinds: z
      .array(z.enum(kubernetesKinds))
      .min(1)
      .optional()
      .describe('The kinds of objects to list. Default: all that the cluster has.'),
    namespaces: Names('namespaces')
      .refine(
        (names) => names.every((name) => /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/.test(name)) && names.length > 0,
        {
          error: 'expected names of namespaces, such as [shop]',
        },
      )
      .optional()
      .describe('The namespaces to list. Default: all.'),
  })
  .describe(
    'Instead of files: the API of a Kubernetes cluster; objects with the annotation watchpost.host are targets.',
  );

const places = ['files', 'url', 'srv', 'docker', 'kubernetes'] as const;

/** Where targets come from that stand elsewhere; the other keys are those of a target. */
export const TargetSource = z
  .looseObject({
    files: Names('files')
      .refine((files) => files.length > 0, { error: 'expected a file, or a list of files' })
      .optional()
      .describe("Files in the form of Prometheus' file_sd, JSON or YAML; a name may hold *."),
    url: SecretUrl('expected an address that lists targets, such as "https://discovery.example.com/targets"')
      .optional()
      .describe("Instead of files: an address that answers in the form of Prometheus' http_sd."),
    srv: z
      .string()
      .max(253)
      .regex(/^[\w-]{1,63}(?:\.[\w-]{1,63})+\.?$/, {
        error: 'expected the name of SRV records, such as "_http._tcp.example.com"',
      })
      .optional()
      .describe('Instead of files: a name whose SRV records (RFC 2782) are the hosts and ports.'),
    docker: FilePath.optional().describe(
      'Instead of files: the unix socket of a container engine, such as /run/docker.sock; containers with the label watchpost.host are targets.',
    ),
    kubernetes: Kubernetes.optional(),
    ask: Ask.prefault({}),
    at_most: z.int().min(1).max(100_000).default(1_000).describe('How many targets there may be in them.'),
  })
  .superRefine((source, context) => {
    const given = places.filter((place) => source[place] !== undefined);
    if (given.length === 0)
      context.addIssue({
        code: 'custom',
        path: ['files'],
        message: 'is missing: set files, url, srv, docker or kubernetes',
      });
    for (const [index, other] of given.entries())
      for (const one of given.slice(0, index)) refuseBoth(source, one, other, context);
    refuseForeignKeys(source, context);
  }, always);
export type TargetSource = z.output<typeof TargetSource>;

const keysOverHttp = ['token_file', 'ca_file', 'headers'] as const;

function refuseForeignKeys(
  { srv, docker, kubernetes, ask }: Pick<TargetSource, 'srv' | 'docker' | 'kubernetes' | 'ask'>,
  context: z.RefinementCtx,
): void {
  const refuse = (key: string, message: string) => context.addIssue({ code: 'custom', path: ['ask', key], message });
  if (srv === undefined && ask?.server !== undefined) refuse('server', 'is for srv only');
  if (srv === undefined && docker === undefined && kubernetes === undefined) return;
  for (const key of keysOverHttp) {
    const value = ask?.[key];
    const isSet = typeof value === 'object' ? Object.keys(value).length > 0 : value !== undefined;
    if (!isSet || (kubernetes !== undefined && key !== 'headers')) continue;
    const whom = key === 'headers' ? 'url' : 'url and kubernetes';
    refuse(key, srv === undefined ? `is for ${whom} only` : `is for ${whom} only: srv is asked by DNS`);
  }
}

/** The keys of a source that are not those of its targets. */
export const sourceKeys: readonly string[] = Object.keys(TargetSource.shape);

export const TargetsFrom = z
  .record(Name, TargetSource)
  .default({})
  .describe(
    'Targets that stand in files of their own, or are listed at an address, in DNS, by a container engine or in a cluster, by name: with the keys of a target, but without host.',
  );
