// Keeps a page in step with the program, and says since when it is not.

export interface StreamConnection {
  /** The stream of events; null for a page that is fetched again and again. */
  readonly url: string | null;
  /** The version that the page shows; null for a stream without heartbeats, whose silence says nothing. */
  readonly since: string | null;
  /** How often the page is fetched without a stream, in milliseconds. */
  readonly everyMs: number;
  /** Draws the page anew; false if it has nothing to follow any more. Rejects while the program is away. */
  readonly refresh: () => Promise<boolean>;
  /** An event of the stream; true if it was the last one. */
  readonly hear: (kind: string, data: string) => boolean;
}

const kinds = ['result', 'state', 'incident', 'patch', 'done'];
const lookMs = 1_000;
const graceMs = 500;
// An attempt to connect that hangs is given up: packets may have been lost.
const attemptMs = 4_000;
const refusedMs = 4_000;
// Not all at once when the program is back, and all within two seconds.
// oxlint-disable-next-line no-restricted-properties -- a browser has no Random of ours
const soon = () => 300 + Math.random() * 1_000;
// oxlint-disable-next-line no-restricted-properties -- nor a Clock
const wallTime = () => Date.now();

/** Follows the program for as long as the page is open. */
export function connect({ url, since, everyMs, refresh, hear }: StreamConnection): void {
  const hasBeats = url === null || since !== null;
  let beatMs = everyMs;
  let heardAt = wallTime();
  let isLost = false;
  let isOver = false;
  let last = since;
  let start: string | null = null;
  let source: EventSource | null = null;
  let triedAt = 0;
  let timer = 0;

  function heard(): void {
    heardAt = wallTime();
    // The page is of an earlier time until it was drawn anew.
    if (isLost) void refresh().then(find).catch(unlessAway);
  }

  function find(): void {
    heardAt = wallTime();
    if (isLost) showConnected();
    isLost = false;
  }

  function later(ms: number, action: () => void): void {
    clearTimeout(timer);
    timer = setTimeout(action, ms);
  }

  function onBeat(data: string): void {
    const beat: { every_seconds: number; start: number } = JSON.parse(data);
    beatMs = beat.every_seconds * 1_000;
    const isOther = start !== null && start !== String(beat.start);
    start = String(beat.start);
    if (isOther && !isLost) void refresh().catch(unlessAway);
  }

  function open(): void {
    clearTimeout(timer);
    source?.close();
    triedAt = wallTime();
    const glue = url?.includes('?') === true ? '&' : '?';
    const one = (source = new EventSource(last === null ? (url ?? '') : `${url}${glue}since=${last}`));
    const on = (kind: string, action: (data: string) => void) =>
      one.addEventListener(kind, (event: MessageEvent<string>) => {
        if (event.lastEventId !== '' && last !== null) last = event.lastEventId;
        heard();
        action(event.data);
      });
    on('beat', onBeat);
    for (const kind of kinds)
      on(kind, (data) => {
        if (hear(kind, data)) stop();
      });
    one.addEventListener('error', () => {
      const isRefused = one.readyState === EventSource.CLOSED;
      one.close();
      if (source !== one) return;
      source = null;
      if (isRefused) fetchInstead();
      else later(soon(), open);
    });
  }

  // The program answers, but not with events: the page itself says why, or leads to where one signs in.
  function fetchInstead(): void {
    void refresh()
      .then((isLive) => {
        find();
        if (!isLive) stop();
      })
      .catch(unlessAway)
      .finally(() => {
        if (!isOver) later(isLost ? soon() : url === null ? everyMs : refusedMs, url === null ? fetchInstead : open);
      });
  }

  function stop(): void {
    isOver = true;
    clearTimeout(timer);
    clearInterval(looking);
    source?.close();
    source = null;
  }

  const looking = setInterval(() => {
    const now = wallTime();
    // The clock was set back.
    heardAt = Math.min(heardAt, now);
    if (!hasBeats) return;
    if (!isLost && now - heardAt > 2 * beatMs + graceMs) {
      isLost = true;
      showLost(heardAt);
    }
    if (isLost && source !== null && now - triedAt > attemptMs) open();
  }, lookMs);

  addEventListener('pagehide', () => source?.close());
  if (url === null) later(everyMs, fetchInstead);
  else {
    addEventListener('online', () => isOver || open());
    // The page was left, and is there again as it was.
    addEventListener('pageshow', ({ persisted }) => persisted && !isOver && open());
    open();
  }
}

// While the program is away the bar says so.
function unlessAway(error: unknown): void {
  if (!(error instanceof TypeError) && !(error instanceof DOMException)) throw error;
}

const { locale } = document.body.dataset;
const clock = new Intl.DateTimeFormat(locale ?? 'sv-SE', { timeStyle: 'medium' });
const day = new Intl.DateTimeFormat(locale ?? 'sv-SE', { dateStyle: locale === undefined ? 'short' : 'medium' });

function showLost(at: number): void {
  const { lost = '', lostTitle = '', lostIcon = '' } = document.body.dataset;
  const isToday = day.format(at) === day.format(wallTime());
  const bar = document.createElement('p');
  bar.id = 'lost';
  bar.setAttribute('role', 'status');
  bar.textContent = lost.replace('{time}', isToday ? clock.format(at) : `${day.format(at)} ${clock.format(at)}`);
  document.querySelector('main')?.prepend(bar);
  document.documentElement.classList.add('lost');
  before = { title: document.title, icon: swapIcon(lostIcon) };
  document.title = lostTitle;
}

let before: { readonly title: string; readonly icon: string } | null = null;

function showConnected(): void {
  document.querySelector('#lost')?.remove();
  document.documentElement.classList.remove('lost');
  if (before === null) return;
  swapIcon(before.icon);
  if (document.title === document.body.dataset['lostTitle']) document.title = before.title;
}

function swapIcon(href: string): string {
  const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
  const old = link?.getAttribute('href') ?? '';
  link?.setAttribute('href', href);
  return old;
}
