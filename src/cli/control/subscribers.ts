import { z } from 'zod';
import { ask, type DaemonOptions } from '../shared/ask.ts';
import { alignRows } from '../shared/table.ts';
import type { CommandContext } from '../shared/command-context.ts';

const Subscribers = z.object({
  subscribers: z.array(
    z.object({
      id: z.string(),
      page: z.string(),
      address: z.string(),
      language: z.string(),
      asked_at: z.string(),
      confirmed_at: z.string().nullable(),
    }),
  ),
});

export async function listSubscribers(
  { page, ...options }: DaemonOptions & { readonly page?: string },
  context: CommandContext,
): Promise<number> {
  const query = page === undefined ? '' : `?page=${encodeURIComponent(page)}`;
  const { subscribers } = await ask(options, context, Subscribers, `/-/subscribers${query}`);
  if (options.json === true) return 0;
  const rows = subscribers.map((one) => [
    one.id,
    one.page,
    one.address,
    one.language,
    one.confirmed_at ?? 'not confirmed',
  ]);
  const table = alignRows([['id', 'page', 'address', 'language', 'confirmed'], ...rows]);
  const confirmed = subscribers.filter((one) => one.confirmed_at !== null).length;
  context.print(table.map((row) => `${row}\n`).join(''));
  context.print(`${confirmed} confirmed, ${subscribers.length - confirmed} not confirmed\n`);
  return 0;
}

/** Ends subscriptions by the id of one or the address of all. */
export async function removeSubscriber(who: string, options: DaemonOptions, context: CommandContext): Promise<number> {
  const { subscribers } = await ask(options, context, Subscribers, '/-/subscribers/remove', { who });
  if (options.json === true) return 0;
  for (const { address, page } of subscribers) context.print(`${address} is removed from the page ${page}\n`);
  return 0;
}
