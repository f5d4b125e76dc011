import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';

/** Where Debian has Chromium, and its engine without an interface: that has no windows and no notifications. */
export const chromiumPath = '/usr/bin/chromium';
export const headlessShellPath = '/usr/bin/chromium-headless-shell';

const switches = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const launchChromium = async (executablePath = chromiumPath): Promise<Browser> =>
  chromium.launch({ executablePath, args: switches });

export const devices = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
  wall: { viewport: { width: 2560, height: 1440 } },
} as const satisfies Record<string, BrowserContextOptions>;
