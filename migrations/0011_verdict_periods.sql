DROP VIEW `outages`;--> statement-breakpoint
ALTER TABLE `spells` RENAME TO `verdict_periods`;--> statement-breakpoint
UPDATE marks SET name = 'periods_' || substr(name, 8) WHERE name IN ('spells_from', 'spells_done');--> statement-breakpoint
CREATE VIEW `outages` AS SELECT
  target,
  strftime('%Y-%m-%dT%H:%M:%fZ', from_at / 1000.0, 'unixepoch') AS began,
  strftime('%Y-%m-%dT%H:%M:%fZ', to_at / 1000.0, 'unixepoch') AS ended,
  (to_at - from_at) / 1000.0 AS seconds,
  maintenance,
  from_at
FROM (SELECT
  targets.name AS target,
  verdict_periods.from_at AS from_at,
  verdict_periods.in_maintenance AS maintenance,
  min(last_at + holds_ms, coalesce(
    (SELECT min(later.from_at) FROM verdict_periods AS later WHERE later.target_id = targets.id AND later.from_at > verdict_periods.from_at),
    last_at + holds_ms)) AS to_at
FROM targets
CROSS JOIN verdict_periods ON verdict_periods.target_id = targets.id
WHERE verdict_periods.status = 1);