// Runs on every page: times in the viewer's own zone, and parts that are drawn anew as events come. Pages say the same without it.
import { connect } from './connection.ts';
import { showDayOnPointer } from './days.ts';
import { foldOnClick } from './folds.ts';
import { renewMoments, zoneWords } from './moments.ts';
import { exchange, type PageListItem, place, remember, takeOver } from './parts.ts';
import { completeRows, completeWhenNear } from './rest.ts';
import { applyTick, type Tick } from './ticks.ts';

const longestMs = 10_000;

async function fetchPage(url: string): Promise<Response> {
  return fetch(url, {
    headers: { accept: 'text/html' },
    cache: 'no-cache',
    signal: AbortSignal.timeout(longestMs),
  });
}

const parsed = async (response: Response) => new DOMParser().parseFromString(await response.text(), 'text/html');

async function refresh(): Promise<boolean> {
  const response = await fetchPage(location.href);
  // A viewer who is not signed in any more signs in, and comes back.
  if (response.redirected && new URL(response.url).pathname === '/login') {
    location.assign(response.url);
    return true;
  }
  if (!response.ok && response.status !== 404) throw new TypeError(`the page answers ${response.status}`);
  const next = await parsed(response);
  takeOver(next);
  filterRows();
  lists.look();
  askAgain(next);
  const { live, every } = next.body.dataset;
  return live !== undefined || every !== undefined;
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

function hear(kind: string, data: string): boolean {
  const { of } = document.body.dataset;
  if (kind === 'patch') showPatch(JSON.parse(data));
  else if (kind === 'done' || of === undefined || JSON.parse(data).target === of) refreshSoon();
  return kind === 'done';
}

/** What changed; absent is what did not. */
interface Patch {
  readonly title?: string;
  readonly parts?: Record<string, string>;
  readonly items?: readonly PageListItem[];
  readonly ticks?: readonly Tick[];
}

function showPatch({ title, parts = {}, items = [], ticks = [] }: Patch): void {
  for (const [name, markup] of Object.entries(parts)) exchange(name, markup);
  // A list begins or ends: the server draws what stands around it.
  const isOther = [...items.filter((item) => !place(item)), ...ticks.filter((tick) => !applyTick(tick))].length > 0;
  filterRows();
  if (isOther) refreshSoon();
  if (title !== undefined && !document.documentElement.classList.contains('lost')) document.title = title;
}

// The style sheet hides these buttons until they work.
function enableCopyButtons(): void {
  if (!isSecureContext) return;
  document.body.classList.add('copies');
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('button[data-copy]') : null;
    if (button === null) return;
    void textOf(button.dataset['from'])
      .then(async (text) => navigator.clipboard.writeText(text))
      .then(() => (button.textContent = button.dataset['copy'] ?? ''));
  });
}

// The address of the page, unless the button names a text.
async function textOf(from: string | undefined): Promise<string> {
  return from === undefined ? location.href : (await fetch(from)).text();
}

// Rows that do not match disappear while typing; Enter asks the server, which also looks at what comes later.
let isTyped = false;
function filterWhileTyping(): void {
  document.addEventListener('input', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.name !== 'q') return;
    isTyped = true;
    filterRows();
    void allRows().then(filterRows);
  });
}

/** Hides the rows that do not match what was typed; to be called when rows were drawn anew, too. */
function filterRows(): void {
  const field = document.querySelector<HTMLInputElement>('input[name="q"]');
  if (!isTyped || field === null) return;
  const text = field.value.trim().toLowerCase();
  for (const row of document.querySelectorAll<HTMLElement>('[data-list] > [data-order]'))
    row.hidden = text !== '' && !(row.textContent ?? '').toLowerCase().includes(text);
}

async function allRows(): Promise<void> {
  await completeRows(async (url) => {
    const response = await fetchPage(url);
    return response.ok && !response.redirected ? parsed(response) : null;
    // While the program is away the bar says so, and the link to all rows stays.
  }).catch(() => setTimeout(lists.look, 3_000));
}

remember();
const lists = completeWhenNear(() => void allRows());
renewMoments();
enableCopyButtons();
filterWhileTyping();
foldOnClick();
showDayOnPointer();
// Another span of the same page is shown.
document.addEventListener('moved', refreshSoon);
const named = document.querySelector('#zone');
if (named !== null) named.textContent = zoneWords();
const { live: url = null, since = null, every = '5' } = document.body.dataset;
const isFollowed = url !== null || document.body.dataset['every'] !== undefined;
if (isFollowed) connect({ url, since, everyMs: Number(every) * 1_000, refresh, hear });
askAgain(document);
