import { z } from 'zod';
import type { EnvironmentVariables } from '#config/read/environment.ts';
import type { Draft, PlainMap } from '../draft.ts';
import { placeholder, webhookEntry } from '../webhook.ts';
import { Text } from './schema.ts';

const Texts = z.record(z.string(), Text);

const CustomAlert = z.looseObject({
  url: Text,
  method: Text.default('GET'),
  body: Text.default(''),
  headers: Texts.default({}),
  placeholders: z.record(z.string(), Texts).default({}),
});

const stands = /\[(?:ALERT_|ENDPOINT_|RESULT_)[A-Z_]+\]/;

interface CustomAlertDraft {
  readonly draft: Draft;
  readonly place: string;
  readonly env: EnvironmentVariables;
  /** What the alert says besides. */
  readonly description: string;
}

/** The provider `custom` as it is written under `notify`, or null if it cannot be carried over. */
export function customAlert(settings: unknown, { draft, place, env, description }: CustomAlertDraft): PlainMap | null {
  const { data } = CustomAlert.safeParse(settings);
  if (data === undefined) return null;
  const lose = (what: string) => {
    draft.note('lost', place, what);
    return null;
  };
  const { url, method, headers, placeholders } = data;
  if (method.toUpperCase() !== 'POST') return lose(`a custom alert by ${method.toUpperCase()}`);
  if ([url, ...Object.values(headers)].some((text) => stands.test(text)))
    return lose('a custom alert with placeholders in its address or its headers');
  const body = expanded(data.body, env);
  if (body === null) return lose('a custom alert whose body needs a variable of the environment that is not set now');
  if (body.includes('[ENDPOINT_GROUP]') || body.includes('[RESULT_CONDITIONS]'))
    draft.note('differs', place, 'the body of its custom alert has no group and no conditions');
  const states = placeholders['ALERT_TRIGGERED_OR_RESOLVED'] ?? {};
  return webhookEntry(draft, {
    url,
    headers,
    body: body
      .replaceAll('{{', '{{ "{{" }}')
      .replaceAll('{%', '{{ "{%" }}')
      .replaceAll('[ALERT_DESCRIPTION]', () => description)
      .replaceAll('[ENDPOINT_NAME]', placeholder('name'))
      .replaceAll('[ENDPOINT_URL]', placeholder('host'))
      .replaceAll('[RESULT_ERRORS]', placeholder('cause'))
      .replaceAll('[ALERT_TRIGGERED_OR_RESOLVED]', placeholder('state'))
      .replaceAll(/\[ENDPOINT_GROUP\]|\[RESULT_CONDITIONS\]/g, ''),
    states: { down: states['TRIGGERED'] ?? 'TRIGGERED', up: states['RESOLVED'] ?? 'RESOLVED' },
  });
}

// A file has no variables: they are read now.
function expanded(text: string, env: EnvironmentVariables): string | null {
  let isWhole = true;
  const all = text.replaceAll(/\$\{(\w+)\}/g, (written, name: string) => {
    const value = env[name];
    if (value === undefined) isWhole = false;
    return value ?? written;
  });
  return isWhole ? all : null;
}
