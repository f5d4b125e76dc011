import { z } from 'zod';
import { payloadText } from '../convert.ts';
import type { DraftEntry, DifferenceReporter } from '../draft.ts';
import { Step, stepsOf } from './dialogue.ts';
import { family, familyOf, Text, Tls, tlsOptions } from './shared-settings.ts';

export const Grpc = z.looseObject({
  ...family,
  service: Text.default(''),
  tls: z.boolean().default(false),
  tls_config: Tls,
});

export const Websocket = z.looseObject({
  ...family,
  query_response: z.array(Step).default([]),
  http_config: z.looseObject({ tls_config: Tls }).prefault({}),
});

interface UpgradeConversion {
  readonly target: string;
  readonly timeout: string;
  readonly say: DifferenceReporter;
}

/** The check of the prober grpc. */
export function grpcCheck(settings: z.output<typeof Grpc>, { target, timeout, say }: UpgradeConversion): DraftEntry {
  const { tls_config: tls, service } = settings;
  if (tls.ca_file !== undefined || tls.cert_file !== undefined)
    return { leftOut: 'its module names certificates in files: give them in tls.ca' };
  if (settings['metadata'] !== undefined) say('lost', 'metadata');
  return {
    check: 'grpc',
    host: target.replace(/^\w+:\/\//, ''),
    timeout,
    family: familyOf(settings),
    health_of: service === '' ? undefined : service,
    tls: settings.tls ? (tlsOptions(tls) ?? true) : undefined,
  };
}

/** The check of the prober websocket. */
export function websocketCheck(
  settings: z.output<typeof Websocket>,
  { target, timeout, say }: UpgradeConversion,
): DraftEntry {
  const { http_config: client, query_response: written } = settings;
  const { tls_config: tls } = client;
  if (tls.ca_file !== undefined || tls.cert_file !== undefined)
    return { leftOut: 'its module names certificates in files: give them in tls.ca' };
  for (const key of ['basic_auth', 'authorization', 'bearer_token', 'oauth2', 'proxy_url'])
    if (client[key] !== undefined) say('lost', `${key}: set it as a header if that is enough`);
  if (settings['headers'] !== undefined) say('lost', 'headers');
  const [first, second, ...more] = stepsOf(written, say);
  const isTurn = first?.['expect'] === undefined && second?.['send'] === undefined;
  if (more.length > 0 || !isTurn) say('lost', 'messages beyond one question and its answer');
  const sent = written[0]?.send;
  return {
    check: 'websocket',
    host: target,
    timeout: timeout === '10s' ? undefined : timeout,
    family: familyOf(settings),
    send: typeof sent === 'string' && first?.['expect'] === undefined ? payloadText(sent) : undefined,
    expect: first?.['expect'] ?? (isTurn ? second?.['expect'] : undefined),
    tls: tlsOptions(tls),
  };
}
