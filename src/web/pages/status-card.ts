import type { ShownState } from '../state/shown.ts';
import { encodePng, type IndexedImage } from './png.ts';
import { type StatusValue, worstStatus } from './status.ts';

// As networks show them best, and as Open Graph images usually are.
const [width, height] = [1_200, 630];
const colors = [
  [255, 255, 255],
  [26, 127, 75],
  [185, 37, 28],
  [143, 91, 0],
  [102, 113, 123],
  [63, 95, 176],
] as const satisfies IndexedImage['palette'];
const colorOf = { up: 1, down: 2, partial: 3, unknown: 4, waiting: 4, maintenance: 5 } as const satisfies Readonly<
  Record<ShownState, number>
>;
const white = 0;

// Whether a point belongs to the sign of a state; from -1 to 1 both ways, below 0 is above the middle.
const near = (value: number, wide: number) => Math.abs(value) < wide;
const onLine = (x: number, y: number, [x1, y1, x2, y2]: readonly [number, number, number, number], wide: number) => {
  const [dx, dy] = [x2 - x1, y2 - y1];
  const along = Math.min(1, Math.max(0, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy)));
  return Math.hypot(x - x1 - along * dx, y - y1 - along * dy) < wide;
};
const bar = 0.11;
const tick = (x: number, y: number) =>
  onLine(x, y, [-0.45, 0.05, -0.12, 0.38], bar) || onLine(x, y, [-0.12, 0.38, 0.48, -0.35], bar);
const cross = (x: number, y: number) =>
  onLine(x, y, [-0.38, -0.38, 0.38, 0.38], bar) || onLine(x, y, [-0.38, 0.38, 0.38, -0.38], bar);
const exclamation = (x: number, y: number) => onLine(x, y, [0, -0.48, 0, 0.14], bar) || Math.hypot(x, y - 0.45) < 0.13;
const pause = (x: number, y: number) => near(Math.abs(x) - 0.22, bar) && near(y, 0.45);
const ring = (x: number, y: number) => near(Math.hypot(x, y) - 0.36, bar * 0.8);
const signs = {
  up: tick,
  down: cross,
  partial: exclamation,
  unknown: ring,
  waiting: ring,
  maintenance: pause,
} as const satisfies Readonly<Record<ShownState, (x: number, y: number) => boolean>>;

/** What a card shows of a page or a report: drawn once for all that show the same. */
export interface CardContent {
  readonly worst: ShownState;
  /** The states of the services, or of the nodes of a report. */
  readonly services: readonly ShownState[];
}

const mostServices = 24;

/** What stands for a card: pages with the same one have the same picture. */
export function cardName({ worst, services }: CardContent): string {
  return `${worst}-${services
    .slice(0, mostServices)
    .map((one) => colorOf[one])
    .join('')}`;
}

/** The card of a status page. */
export const statusCard = (value: Pick<StatusValue, 'services'>): CardContent => ({
  worst: worstStatus(value),
  services: value.services.map(({ status }) => status),
});

/** Draws pictures of states (PNG) for those who link to a page: the sign of the worst state, and a field for each service or node. */
export function createCards(): (content: CardContent) => Buffer {
  const drawn = new Map<string, Buffer>();
  return (content) => {
    const name = cardName(content);
    const card = drawn.get(name) ?? encodePng(drawCard(content));
    drawn.delete(name);
    drawn.set(name, card);
    for (const oldest of drawn.keys()) if (drawn.size > mostDrawn) drawn.delete(oldest);
    return card;
  };
}

const mostDrawn = 50;

function drawCard({ worst, services: all }: CardContent): IndexedImage {
  const services = all.slice(0, mostServices);
  const pixels = new Uint8Array(width * height).fill(white);
  const color = colorOf[worst];
  const [middleX, middleY, radius] = [width / 2, 260, 190];
  const isSign = signs[worst];
  for (let y = middleY - radius; y <= middleY + radius; y += 1)
    for (let x = middleX - radius; x <= middleX + radius; x += 1) {
      const [dx, dy] = [(x - middleX) / radius, (y - middleY) / radius];
      if (Math.hypot(dx, dy) < 1) pixels[y * width + x] = isSign(dx, dy) ? white : color;
    }
  fill(pixels, { x: 0, y: height - 12, wide: width, high: 12 }, color);
  const each = Math.min(90, Math.floor((width - 160) / Math.max(1, services.length)));
  const left = Math.round((width - each * services.length) / 2);
  for (const [index, one] of services.entries())
    fill(pixels, { x: left + index * each + 4, y: 500, wide: each - 8, high: 70 }, colorOf[one]);
  return { width, height, pixels, palette: colors };
}

interface CardField {
  readonly x: number;
  readonly y: number;
  readonly wide: number;
  readonly high: number;
}

function fill(pixels: Uint8Array, { x, y, wide, high }: CardField, color: number): void {
  for (let line = y; line < y + high; line += 1) pixels.fill(color, line * width + x, line * width + x + wide);
}
