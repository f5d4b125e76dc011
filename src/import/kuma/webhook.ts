import { z } from 'zod';
import type { Draft, PlainMap } from '../draft.ts';
import { type TemplateVariable, webhookEntry } from '../webhook.ts';
import { parsed } from './schema.ts';

// What Kuma calls the variables of a body; keys are read with dots and in brackets.
const variables: Readonly<Record<string, TemplateVariable>> = {
  msg: 'message',
  name: 'name',
  NAME: 'name',
  status: 'state',
  STATUS: 'state',
  hostnameOrURL: 'host',
  HOSTNAME_OR_URL: 'host',
  'monitorJSON.name': 'name',
  'heartbeatJSON.msg': 'cause',
  'heartbeatJSON.status': 'state_number',
  'heartbeatJSON.time': 'at',
};
const tags = /\{[{%].*?[}%]\}/gs;
const names = /(?<![\w.])[A-Za-z]\w*(?:\.\w+|\[['"]\w+['"]\])*/g;

const plainBody = `{"heartbeat": {"status": {{ state_number }}, "msg": {{ cause | json }}, "time": {{ at | json }}},
 "monitor": {"name": {{ name | json }}, "hostname": {{ host | json }}}, "msg": {{ message | json }}}`;

const Headers = z.record(z.string(), z.coerce.string());

/** A notification of the type webhook as it is written under `notify`, or null if it cannot be carried over. */
export function webhookOf(text: (key: string) => string, draft: Draft, place: string): PlainMap | null {
  const form = text('webhookContentType');
  if (text('httpMethod').toLowerCase() === 'get' || form === 'form-data') {
    draft.note('lost', place, `a webhook ${form === 'form-data' ? 'with a form' : 'by GET'}`);
    return null;
  }
  const headers = Headers.safeParse(parsed(text('webhookAdditionalHeaders') || '{}'));
  if (!headers.success) draft.note('lost', place, 'headers that are no JSON');
  const { body, unknown } = form === 'custom' ? renamed(text('webhookCustomBody')) : { body: plainBody };
  if (unknown !== undefined) {
    draft.note('lost', place, `a webhook whose body names ${unknown}`);
    return null;
  }
  if (form !== 'custom')
    draft.note('differs', place, 'the body of its webhook has only the name, host, state, time and message');
  const states = { down: '🔴 Down', up: '✅ Up' };
  return webhookEntry(draft, { url: text('webhookURL'), headers: headers.data ?? {}, body, states });
}

/** A template with our names of variables, and the first that has none. */
function renamed(template: string): { readonly body: string; readonly unknown?: string } {
  let unknown: string | undefined;
  const body = template.replaceAll(tags, (tag) =>
    tag.replaceAll(names, (name) => {
      const known = variables[name.replaceAll(/\[['"](\w+)['"]\]/g, '.$1')];
      if (known === undefined && /^(?:monitor|heartbeat)JSON\b/.test(name)) unknown ??= name;
      return known ?? name;
    }),
  );
  return { body, ...(unknown !== undefined && { unknown }) };
}
