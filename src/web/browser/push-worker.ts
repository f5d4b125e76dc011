// The service worker: shows notifications that the hub sends, also while no page is open, and opens their incident.

interface LastingEvent extends Event {
  waitUntil(work: Promise<unknown>): void;
}

interface PushMessageEvent extends LastingEvent {
  readonly data: { json(): PushedNotice } | null;
}

interface NotificationClick extends LastingEvent {
  readonly action: string;
  readonly notification: Notification;
}

/** What the channel `push` sends. Links are null if pages have no address. */
interface PushedNotice {
  readonly title: string;
  readonly body: string;
  readonly link: string | null;
  readonly acknowledge: string | null;
  /** Of the incident: a newer notification replaces the one before. */
  readonly tag: string;
  readonly at: number;
}

interface OpenPage {
  readonly url: string;
  focus(): Promise<unknown>;
}

interface PushWorker {
  readonly registration: { showNotification(title: string, options: object): Promise<void> };
  readonly clients: {
    matchAll(options: object): Promise<readonly OpenPage[]>;
    openWindow(url: string): Promise<unknown>;
  };
  addEventListener(type: 'push', listener: (event: PushMessageEvent) => void): void;
  addEventListener(type: 'notificationclick', listener: (event: NotificationClick) => void): void;
}

// The types of the library are those of pages.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const worker = globalThis as unknown as PushWorker;

async function show(notice: PushedNotice): Promise<void> {
  const { title, body, link, acknowledge, tag, at } = notice;
  const actions = acknowledge === null ? [] : [{ action: 'acknowledge', title: 'Acknowledge' }];
  const data = { link, acknowledge };
  await worker.registration.showNotification(title, { body, tag, renotify: true, timestamp: at, actions, data });
}

// Under the name by which this browser knows the pages, whatever their usual address is.
function hrefOf(link: string | null): string {
  const { pathname, search } = new URL(link ?? '/incidents', location.origin);
  return `${location.origin}${pathname}${search}`;
}

async function openPage(href: string): Promise<void> {
  const pages = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  const known = pages.find(({ url }) => url === href);
  await (known === undefined ? worker.clients.openWindow(href) : known.focus());
}

worker.addEventListener('push', (event) => {
  if (event.data !== null) event.waitUntil(show(event.data.json()));
});

worker.addEventListener('notificationclick', (event) => {
  const { link, acknowledge }: Pick<PushedNotice, 'link' | 'acknowledge'> = event.notification.data;
  event.notification.close();
  event.waitUntil(openPage(hrefOf(event.action === 'acknowledge' ? acknowledge : link)));
});
