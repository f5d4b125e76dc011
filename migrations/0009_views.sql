DROP VIEW `history`;--> statement-breakpoint
CREATE VIEW `days` AS SELECT
  strftime('%Y-%m-%d', sealed_days.day * 86400, 'unixepoch') AS at,
  sealed_days.day AS day,
  targets.name AS target,
  nodes.name AS node,
  up, down, unknown, late,
  min_us / 1000000.0 AS min,
  sum_us / 1000000.0 / nullif(up, 0) AS mean,
  max_us / 1000000.0 AS max
FROM targets
CROSS JOIN nodes
CROSS JOIN sealed_days ON sealed_days.target_id = targets.id AND sealed_days.node_id = nodes.id
WHERE sealed_days.day < (SELECT value / 86400000 FROM marks WHERE marks.name = 'days_until');--> statement-breakpoint
CREATE VIEW `hours` AS SELECT
  strftime('%Y-%m-%dT%H:00Z', sealed_hours.hour * 3600, 'unixepoch') AS at,
  sealed_hours.hour AS hour,
  targets.name AS target,
  nodes.name AS node,
  up, down, unknown, late,
  min_us / 1000000.0 AS min,
  sum_us / 1000000.0 / nullif(up, 0) AS mean,
  max_us / 1000000.0 AS max
FROM targets
CROSS JOIN nodes
CROSS JOIN sealed_hours ON sealed_hours.target_id = targets.id AND sealed_hours.node_id = nodes.id
WHERE sealed_hours.hour < (SELECT value / 3600000 FROM marks WHERE marks.name = 'hours_until');--> statement-breakpoint
CREATE VIEW `outages` AS SELECT
  target,
  strftime('%Y-%m-%dT%H:%M:%fZ', from_at / 1000.0, 'unixepoch') AS began,
  strftime('%Y-%m-%dT%H:%M:%fZ', to_at / 1000.0, 'unixepoch') AS ended,
  (to_at - from_at) / 1000.0 AS seconds,
  maintenance,
  from_at
FROM (SELECT
  targets.name AS target,
  spells.from_at AS from_at,
  spells.in_maintenance AS maintenance,
  min(last_at + holds_ms, coalesce(
    (SELECT min(later.from_at) FROM spells AS later WHERE later.target_id = targets.id AND later.from_at > spells.from_at),
    last_at + holds_ms)) AS to_at
FROM targets
CROSS JOIN spells ON spells.target_id = targets.id
WHERE spells.status = 1);--> statement-breakpoint
CREATE VIEW `history` AS SELECT
  strftime('%Y-%m-%dT%H:%M:%fZ', results.due_at / 1000.0, 'unixepoch') AS at,
  results.due_at AS due_at,
  targets.name AS target,
  nodes.name AS node,
  CASE results.status WHEN 0 THEN 'up' WHEN 1 THEN 'down' ELSE 'unknown' END AS status,
  results.duration_us / 1000000.0 AS seconds,
  results.failure ->> 'code' AS code,
  results.failure ->> 'message' AS message,
  results.failure ->> 'address' AS address,
  strftime('%Y-%m-%dT%H:%M:%fZ', results.late_at / 1000.0, 'unixepoch') AS late_at
FROM results
CROSS JOIN targets ON targets.id = results.target_id
CROSS JOIN nodes ON nodes.id = results.node_id;