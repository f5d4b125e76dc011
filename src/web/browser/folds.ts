// Groups of the overview that are folded, for as long as the tab is open.

const key = 'watchpost-folded';
let folded: Set<string> | null = null;

function read(): Set<string> {
  try {
    const names: unknown = JSON.parse(sessionStorage.getItem(key) ?? '[]');
    return new Set(Array.isArray(names) ? names.map(String) : []);
  } catch {
    // A browser may refuse storage: then groups stay folded until the page is left.
    return new Set();
  }
}

function store(names: ReadonlySet<string>): void {
  try {
    sessionStorage.setItem(key, JSON.stringify([...names]));
  } catch {
    // As above.
  }
}

const listOf = (button: Element) => button.closest<HTMLElement>('[data-list]');
const nameOf = (button: Element) => button.closest('[data-part]')?.getAttribute('data-part') ?? '';

/** Enables the buttons of groups below an element, and folds what the viewer has folded. */
export function applyFolds(root: ParentNode): void {
  folded ??= read();
  for (const button of root.querySelectorAll<HTMLButtonElement>('button.fold')) {
    const isFolded = folded.has(nameOf(button));
    button.disabled = false;
    button.setAttribute('aria-expanded', String(!isFolded));
    listOf(button)?.classList.toggle('folded', isFolded);
  }
}

export function foldOnClick(): void {
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest('button.fold') : null;
    const list = button === null ? null : listOf(button);
    if (button === null || list === null) return;
    folded ??= read();
    const name = nameOf(button);
    if (!folded.delete(name)) folded.add(name);
    store(folded);
    applyFolds(list);
  });
}
