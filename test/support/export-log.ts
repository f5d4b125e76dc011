import type { ExportEvents } from '#export/export-events.ts';

/** What an export says of itself, counted. */
export interface ExportLog extends ExportEvents {
  readonly counts: { sent: number; dropped: number; failed: number };
}

export function createExportLog(): ExportLog {
  const counts = { sent: 0, dropped: 0, failed: 0 };
  return {
    counts,
    sent: (_, count) => void (counts.sent += count),
    dropped: (_, count) => void (counts.dropped += count),
    failed: () => void (counts.failed += 1),
  };
}
