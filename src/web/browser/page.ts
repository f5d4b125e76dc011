// Runs on every page: times in the viewer's own zone, and parts that are drawn anew as events come. Pages say the same without it.

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
const forms = {
  time: new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' }),
  day: new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short' }),
};

function localise(root: ParentNode): void {
  for (const element of root.querySelectorAll('time[datetime]')) {
    const at = new Date(element.getAttribute('datetime') ?? '');
    if (Number.isNaN(at.getTime())) continue;
    element.setAttribute('title', at.toISOString());
    element.textContent = forms[element.getAttribute('data-form') === 'day' ? 'day' : 'time'].format(at);
  }
}

/** The parts of the page as the server wrote them. */
const written = new Map<string, string>();
const partsOf = (root: ParentNode) =>
  [...root.querySelectorAll('[data-part]')].flatMap((element) => {
    const name = element.getAttribute('data-part');
    return name === null ? [] : [{ name, element }];
  });

function exchange(name: string, markup: string): void {
  if (written.get(name) === markup) return;
  const old = document.querySelector(`[data-part="${CSS.escape(name)}"]`);
  if (old === null) return;
  const fresh = parse(markup, old);
  if (fresh === null) return;
  const open = [...old.querySelectorAll('details')].map((one) => one.open);
  [...fresh.querySelectorAll('details')].forEach((one, index) => (one.open = open[index] ?? false));
  localise(fresh);
  fresh.classList.add('new');
  written.set(name, markup);
  const place = placeOfFocus(old);
  old.replaceWith(fresh);
  if (place !== null) reachable(fresh)[place]?.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent('part', { detail: name }));
}

const reachable = (root: Element) =>
  [root, ...root.querySelectorAll('*')]
    .filter((one) => one instanceof HTMLElement)
    .filter(({ tabIndex }) => tabIndex >= 0);

// Whoever is among the parts by keyboard stays where he was.
function placeOfFocus(old: Element): number | null {
  const place = reachable(old).findIndex((one) => one === document.activeElement);
  return place === -1 ? null : place;
}

// Rows stand in tables only, so the parent's own kind reads them.
function parse(markup: string, old: Element): Element | null {
  const holder = document.createElement(old.parentElement?.tagName ?? 'div');
  holder.innerHTML = markup;
  return holder.firstElementChild;
}

async function refresh(): Promise<void> {
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, cache: 'no-cache' });
  if (!response.ok) return;
  const next = new DOMParser().parseFromString(await response.text(), 'text/html');
  const known = new Set(partsOf(document).map(({ name }) => name));
  const parts = partsOf(next);
  // Another set of parts is another page.
  if (parts.length !== known.size || parts.some(({ name }) => !known.has(name))) {
    document.querySelector('main')?.replaceWith(next.querySelector('main') ?? '');
    begin();
  } else for (const { name, element } of parts) exchange(name, element.outerHTML);
  if (document.title !== next.title) document.title = next.title;
  askAgain(next);
}

// What is being looked up is there in a moment, or cannot be read.
let asked = 0;
function askAgain({ body }: Document): void {
  if (body.dataset['again'] === undefined || asked === 5) return;
  asked += 1;
  setTimeout(refreshSoon, asked * 2_000);
}

let waiting = false;
let again = false;

/** One refresh at a time, a quarter of a second after the first event of a burst. */
function refreshSoon(): void {
  again = true;
  if (waiting) return;
  waiting = true;
  setTimeout(() => {
    again = false;
    void refresh()
      // What the server did not send the browser shows by itself.
      .catch(() => setTimeout(refreshSoon, 3_000))
      .finally(() => {
        waiting = false;
        if (again) refreshSoon();
      });
  }, 250);
}

function follow(url: string): void {
  const events = new EventSource(url);
  const { of } = document.body.dataset;
  const onEvent = (event: MessageEvent<string>) => {
    if (of === undefined || JSON.parse(event.data).target === of) refreshSoon();
  };
  for (const kind of ['result', 'state', 'incident']) events.addEventListener(kind, onEvent);
  events.addEventListener('patch', (event: MessageEvent<string>) => {
    for (const [name, markup] of Object.entries<string>(JSON.parse(event.data))) exchange(name, markup);
  });
  events.addEventListener('done', () => {
    events.close();
    refreshSoon();
  });
  addEventListener('pagehide', () => events.close());
}

function begin(): void {
  for (const { name, element } of partsOf(document)) written.set(name, element.outerHTML);
  localise(document);
  const button = document.querySelector<HTMLButtonElement>('button[data-copy]');
  if (button !== null && isSecureContext) {
    button.hidden = false;
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(location.href).then(() => (button.textContent = button.dataset['copy'] ?? ''));
    });
  }
}

begin();
// Another span of the same page is looked at.
document.addEventListener('moved', refreshSoon);
const named = document.querySelector('#zone');
if (named !== null) named.textContent = zone;
const { live } = document.body.dataset;
if (live !== undefined) follow(live);
askAgain(document);
