ALTER TABLE `results` ADD `late_at` integer;--> statement-breakpoint
DROP VIEW `history`;--> statement-breakpoint
CREATE VIEW `history` AS SELECT
  strftime('%Y-%m-%dT%H:%M:%fZ', results.due_at / 1000.0, 'unixepoch') AS due_at,
  targets.name AS target,
  nodes.name AS node,
  CASE results.status WHEN 0 THEN 'up' WHEN 1 THEN 'down' ELSE 'unknown' END AS status,
  results.duration_us / 1000000.0 AS seconds,
  results.failure ->> 'code' AS code,
  results.failure ->> 'message' AS message,
  results.failure ->> 'address' AS address,
  strftime('%Y-%m-%dT%H:%M:%fZ', results.late_at / 1000.0, 'unixepoch') AS late_at
FROM results
JOIN targets ON targets.id = results.target_id
JOIN nodes ON nodes.id = results.node_id;