import type { Register } from './register.ts';

/** Takes whether the configuration could be loaded, and when: milliseconds since the epoch. */
export type ReloadRecorder = (successful: boolean, at: number) => void;

export function createConfigMetrics(register: Register): ReloadRecorder {
  const successful = register.gauge(
    'watchpost_config_last_reload_successful',
    '1 if the last attempt to load the configuration was successful, else 0.',
  );
  const at = register.gauge(
    'watchpost_config_last_reload_success_timestamp_seconds',
    'When the configuration that is in force was loaded.',
  );

  return (ok, now) => {
    successful.of().value = ok ? 1 : 0;
    if (ok) at.of().value = now / 1_000;
  };
}
