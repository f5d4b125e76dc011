// The page about devices: asks the browser for an address at its push service, and sends it with the form (Push API).

const form = document.querySelector<HTMLFormElement>('form[data-push]');

function say(words: string): void {
  const note = form?.querySelector<HTMLElement>('[data-push-note]') ?? null;
  if (note === null) return;
  note.hidden = false;
  note.textContent = words;
}

// What people call a device: what its browser says of itself, in short.
function usualName(): string {
  const { userAgent } = navigator;
  const browser = ['Firefox', 'Edg', 'OPR', 'Chrome', 'Safari'].find((one) => userAgent.includes(one)) ?? 'Browser';
  const system =
    ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS', 'Linux'].find((one) => userAgent.includes(one)) ?? '';
  return system === '' ? browser : `${browser === 'Edg' ? 'Edge' : browser} on ${system}`;
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'));
  return Uint8Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

const isSame = (one: ArrayBuffer | null | undefined, other: Uint8Array): boolean =>
  one !== null && one !== undefined && new Uint8Array(one).join() === other.join();

async function subscribe(key: string): Promise<PushSubscription> {
  const registration = await navigator.serviceWorker.register('/push-worker.js');
  await navigator.serviceWorker.ready;
  const applicationServerKey = bytesOf(key);
  const known = await registration.pushManager.getSubscription();
  // A browser has one subscription at a time, for one key.
  if (known !== null && !isSame(known.options.applicationServerKey, applicationServerKey)) await known.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
}

async function add(to: HTMLFormElement): Promise<void> {
  const { push = '', unable = '', blocked = '', failed = '' } = to.dataset;
  if (!('serviceWorker' in navigator) || !('PushManager' in globalThis)) return say(unable);
  if ((await Notification.requestPermission()) !== 'granted') return say(blocked);
  try {
    const { endpoint = '', keys = {} } = (await subscribe(push)).toJSON();
    const values = { endpoint, p256dh: keys['p256dh'] ?? '', auth: keys['auth'] ?? '' };
    for (const [name, value] of Object.entries(values)) {
      const input = to.elements.namedItem(name);
      if (input instanceof HTMLInputElement) input.value = value;
    }
    to.submit();
  } catch (error) {
    say(`${failed}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

if (form !== null) {
  const name = form.elements.namedItem('name');
  if (name instanceof HTMLInputElement && name.value === '') name.value = usualName();
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void add(form);
  });
}
