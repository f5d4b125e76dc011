import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';

/** Where Debian has Chromium. */
export const executablePath = '/usr/bin/chromium';

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

export const launchChromium = async (): Promise<Browser> => chromium.launch({ executablePath, args: switches });

export const devices = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 },
  wall: { viewport: { width: 2560, height: 1440 } },
} as const satisfies Record<string, BrowserContextOptions>;
