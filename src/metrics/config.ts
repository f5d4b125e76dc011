import { Gauge, type Registry } from 'prom-client';

/** Takes whether the configuration could be loaded, and when: milliseconds since the epoch. */
export type ConfigReloaded = (successful: boolean, at: number) => void;

export function createConfigMetrics(registry: Registry): ConfigReloaded {
  const registers = [registry];
  const successful = new Gauge({
    name: 'watchpost_config_last_reload_successful',
    help: '1 where the last attempt to load the configuration was successful, else 0.',
    registers,
  });
  const at = new Gauge({
    name: 'watchpost_config_last_reload_success_timestamp_seconds',
    help: 'When the configuration that is in force was loaded.',
    registers,
  });

  return (ok, now) => {
    successful.set(ok ? 1 : 0);
    if (ok) at.set(now / 1_000);
  };
}
