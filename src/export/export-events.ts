/** Where results and metrics are sent. */
export type ExportTarget = 'file' | 'webhook' | 'otlp';

/** What becomes of what is sent, for metrics. */
export interface ExportEvents {
  /** So many results, or data points, arrived at `at` (milliseconds since the epoch). */
  sent(to: ExportTarget, count: number, at: number): void;
  /** So many were given up. */
  dropped(to: ExportTarget, count: number): void;
  /** An attempt failed. */
  failed(to: ExportTarget): void;
}
