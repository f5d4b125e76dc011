/** A target as pages and streams know it. */
export const watchedShop = {
  name: 'shop',
  check: 'tcp',
  host: 'shop:80',
  labels: {},
  hasObjective: false,
  rules: [],
  everyMs: 60_000,
  holdsMs: 3_600_000,
  nextDue: () => null,
  nextPing: null,
} as const;
