/** What `beat run` takes if the command line says nothing else. */
export const beatDefaults = {
  beats: '/etc/watchpost/beats',
  /** The environment variable that names another folder. */
  beatsVariable: 'WATCHPOST_BEATS',
  /** In milliseconds. */
  tryFor: 300_000,
} as const;
