import type { Device } from '#subscriptions/device-store.ts';
import { devicesTexts as words } from './devices-texts.ts';
import { foreign, html, type Markup, moment, nothing } from './markup.ts';
import { about } from './docs-links.ts';

/** What the page about devices shows. */
export interface DevicesValue {
  /** Those that get notifications; their addresses are not shown. */
  readonly devices: readonly Pick<Device, 'id' | 'name' | 'recipient' | 'user' | 'createdAt'>[];
  /** The names under `notify` that devices can be added to. */
  readonly recipients: readonly string[];
  /** The key by which push services know this installation. */
  readonly publicKey: string;
  readonly mayAct: boolean;
  /** What was wrong with the last form, or null. */
  readonly objection: string | null;
}

export function devicesContent({ devices, recipients, publicKey, mayAct, objection }: DevicesValue): Markup {
  return html`<h1>${words.sentence(devices.length)}</h1>
${objection === null ? nothing : html`<p class="notice down" role="alert">${foreign(objection)}</p>`}
${mayAct && recipients.length > 0 ? addForm(recipients, publicKey) : nothing}
${devices.length === 0 ? nothing : table(devices, mayAct)}`;
}

// The script fills in what the browser says, and sends the form.
function addForm(recipients: readonly string[], publicKey: string): Markup {
  const options = recipients.map((name) => html`<option>${name}</option>`);
  const filled = ['endpoint', 'p256dh', 'auth'].map((name) => html`<input type="hidden" name="${name}">`);
  return html`<p class="lead">${words.lead}${about('devices', words.title)}</p>
<form class="ask paper" method="post" action="/actions/devices/add" data-push="${publicKey}" data-unable="${words.unable}" data-blocked="${words.blocked}" data-failed="${words.failed}">${filled}
<div><label for="recipient">${words.recipient}</label><select id="recipient" name="recipient">${options}</select></div>
<div><label for="name">${words.name}</label><input type="text" id="name" name="name" maxlength="80" autocomplete="off"></div>
<div><button>${words.add}</button></div>
<p class="notice" role="status" data-push-note hidden></p><noscript><p class="notice">${words.noScript}</p></noscript></form>`;
}

function table(devices: DevicesValue['devices'], mayAct: boolean): Markup {
  const remove = (id: string, name: string) =>
    html`<form method="post" action="/actions/devices/remove"><input type="hidden" name="id" value="${id}"><button class="quiet" aria-label="${words.remove}: ${name}">${words.remove}</button></form>`;
  const rows = devices.map(
    ({ id, name, recipient, user, createdAt }) =>
      html`<tr><th scope="row" class="wrap">${foreign(name)}</th><td data-label="${words.recipient}">${recipient}</td><td data-label="${words.user}">${user === null ? '–' : foreign(user)}</td><td data-label="${words.since}">${moment(createdAt)}</td><td>${mayAct ? remove(id, name) : nothing}</td></tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${words.title}"><table class="cards"><thead><tr><th scope="col">${words.device}</th><th scope="col">${words.recipient}</th><th scope="col">${words.user}</th><th scope="col">${words.since}</th><td></td></tr></thead><tbody>${rows}</tbody></table></div>`;
}
