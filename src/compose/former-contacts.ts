import { type AnyChannelType, channelTypes, type Contact } from '#channels/index.ts';
import { isSame } from '#config/apply/same.ts';
import type { Config } from '#config/config.ts';
import { messageOf } from '#kernel/errors.ts';
import type { Log } from '#kernel/log.ts';
import type { DeliveryStore } from '#monitor/notify/delivery-store.ts';

type ContactsByChannel = Config['contacts'];

/** Contacts that services which keep alerts had under other names, so that the end of an alert reaches it. */
export interface FormerContacts {
  /** Takes note of the contacts of a configuration that is replaced. */
  note(replaced: ContactsByChannel): void;
  /** With those that have another name by now, under the name before as well. */
  with(contacts: ContactsByChannel): ContactsByChannel;
}

export function createFormerContacts(): FormerContacts {
  const former = new Map<string, Map<string, Contact<unknown>>>();
  return {
    note(replaced) {
      for (const { name } of keepingTypes)
        for (const contact of replaced[name] ?? []) {
          const known = former.get(name) ?? new Map<string, Contact<unknown>>();
          former.set(name, known.set(contact.notify, contact));
        }
    },
    with(contacts) {
      const renamed = [...former].flatMap(([channel, all]) => {
        const current = contacts[channel] ?? [];
        const own = [...all.values()].flatMap((one) => renamedTo(one, current) ?? []);
        return own.length === 0 ? [] : [[channel, [...current, ...own]] as const];
      });
      return renamed.length === 0 ? contacts : { ...contacts, ...Object.fromEntries(renamed) };
    },
  };
}

const keepingTypes: readonly AnyChannelType[] = channelTypes.filter(({ keepsAlerts }) => keepsAlerts === true);

function renamedTo(former: Contact<unknown>, current: readonly Contact<unknown>[]): Contact<unknown> | null {
  if (current.some(({ notify }) => notify === former.notify)) return null;
  const same = current.find((one) => leadsToSame(one, former));
  return same === undefined ? null : { ...same, notify: former.notify };
}

// Files of the same content may have other names.
function leadsToSame(one: Contact<unknown>, other: Contact<unknown>): boolean {
  return isSame(one.files, other.files) && isSame(withoutPaths(one), withoutPaths(other));
}

function withoutPaths({ entry, files }: Contact<unknown>): unknown {
  return typeof entry === 'object' && entry !== null
    ? Object.fromEntries(Object.entries(entry).filter(([key]) => !Object.hasOwn(files, key)))
    : entry;
}

export interface LostAlertsOptions {
  readonly before: ContactsByChannel;
  /** With the contacts that have another name by now. */
  readonly next: ContactsByChannel;
  readonly store: Pick<DeliveryStore, 'notifiedAndOpen'>;
  readonly log: Log;
}

/** Logs which open alerts cannot be ended any more because a reload leads their recipient elsewhere or nowhere. */
export function reportLostAlerts({ before, next, store, log }: LostAlertsOptions): void {
  for (const { name: channel } of keepingTypes) {
    const lost = (before[channel] ?? []).flatMap((contact) => {
      const now = next[channel]?.find(({ notify }) => notify === contact.notify);
      if (now !== undefined && leadsToSame(now, contact)) return [];
      const reason = now === undefined ? 'its recipient is not configured any more' : 'its recipient leads elsewhere';
      return [{ recipient: contact.notify, reason }];
    });
    if (lost.length === 0) continue;
    try {
      const open = store.notifiedAndOpen(channel);
      for (const { recipient, reason } of lost) {
        const incidents = open.flatMap((one) => (one.recipient === recipient ? [one.incident.id] : []));
        if (incidents.length > 0) log.warn({ channel, recipient, incidents }, `cannot end open alerts: ${reason}`);
      }
    } catch (error) {
      log.warn({ channel, reason: messageOf(error) }, 'cannot read which open alerts cannot be ended any more');
    }
  }
}
