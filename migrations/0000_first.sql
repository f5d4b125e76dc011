CREATE TABLE `deliveries` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`incident_id` text NOT NULL,
	`kind` text NOT NULL,
	`number` integer NOT NULL,
	`channel` text NOT NULL,
	`recipient` text NOT NULL,
	`state` text NOT NULL,
	`created_at` integer NOT NULL,
	`next_attempt_at` integer NOT NULL,
	`attempts` integer NOT NULL,
	`last_error` text,
	`settled_at` integer,
	FOREIGN KEY (`incident_id`) REFERENCES `incidents`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `deliveries_once` ON `deliveries` (`incident_id`,`kind`,`number`,`channel`,`recipient`);--> statement-breakpoint
CREATE INDEX `deliveries_pending` ON `deliveries` (`next_attempt_at`) WHERE state = 'pending';--> statement-breakpoint
CREATE TABLE `incidents` (
	`id` text PRIMARY KEY NOT NULL,
	`target_id` integer NOT NULL,
	`rule` text NOT NULL,
	`started_at` integer NOT NULL,
	`opened_at` integer NOT NULL,
	`ended_at` integer,
	`story` text NOT NULL,
	FOREIGN KEY (`target_id`) REFERENCES `targets`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE INDEX `incidents_of_target` ON `incidents` (`target_id`,`started_at`);--> statement-breakpoint
CREATE INDEX `incidents_by_time` ON `incidents` (`started_at`);--> statement-breakpoint
CREATE INDEX `incidents_open` ON `incidents` (`target_id`) WHERE ended_at IS NULL;--> statement-breakpoint
CREATE TABLE `nodes` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `nodes_name_unique` ON `nodes` (`name`);--> statement-breakpoint
CREATE TABLE `results` (
	`due_at` integer NOT NULL,
	`target_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`status` integer NOT NULL,
	`duration_us` integer,
	`failure` text,
	PRIMARY KEY(`due_at`, `target_id`, `node_id`),
	FOREIGN KEY (`target_id`) REFERENCES `targets`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`node_id`) REFERENCES `nodes`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `rule_states` (
	`target_id` integer NOT NULL,
	`rule` text NOT NULL,
	`state` text NOT NULL,
	PRIMARY KEY(`target_id`, `rule`),
	FOREIGN KEY (`target_id`) REFERENCES `targets`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `targets` (
	`id` integer PRIMARY KEY NOT NULL,
	`name` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `targets_name_unique` ON `targets` (`name`);--> statement-breakpoint
CREATE VIEW `history` AS SELECT
  strftime('%Y-%m-%dT%H:%M:%fZ', results.due_at / 1000.0, 'unixepoch') AS due_at,
  targets.name AS target,
  nodes.name AS node,
  CASE results.status WHEN 0 THEN 'up' WHEN 1 THEN 'down' ELSE 'unknown' END AS status,
  results.duration_us / 1000000.0 AS seconds,
  results.failure ->> 'code' AS code,
  results.failure ->> 'message' AS message,
  results.failure ->> 'address' AS address
FROM results
JOIN targets ON targets.id = results.target_id
JOIN nodes ON nodes.id = results.node_id;