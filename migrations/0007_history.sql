CREATE TABLE `late_results` (
	`target_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`due_at` integer NOT NULL,
	`status` integer NOT NULL,
	`duration_us` integer,
	`failure` text,
	`late_at` integer,
	PRIMARY KEY(`target_id`, `node_id`, `due_at`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `marks` (
	`name` text PRIMARY KEY NOT NULL,
	`value` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `packs` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`hour` integer NOT NULL,
	`results` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `sealed_days` (
	`target_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`day` integer NOT NULL,
	`up` integer NOT NULL,
	`down` integer NOT NULL,
	`unknown` integer NOT NULL,
	`late` integer NOT NULL,
	`sum_us` integer NOT NULL,
	`min_us` integer,
	`max_us` integer,
	`sketch` blob NOT NULL,
	PRIMARY KEY(`target_id`, `node_id`, `day`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `sealed_hours` (
	`target_id` integer NOT NULL,
	`node_id` integer NOT NULL,
	`hour` integer NOT NULL,
	`up` integer NOT NULL,
	`down` integer NOT NULL,
	`unknown` integer NOT NULL,
	`late` integer NOT NULL,
	`sum_us` integer NOT NULL,
	`min_us` integer,
	`max_us` integer,
	`sketch` blob NOT NULL,
	`pack_id` integer NOT NULL,
	PRIMARY KEY(`target_id`, `node_id`, `hour`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `spells` (
	`target_id` integer NOT NULL,
	`from_at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`holds_ms` integer NOT NULL,
	`status` integer NOT NULL,
	`in_maintenance` integer NOT NULL,
	PRIMARY KEY(`target_id`, `from_at`),
	FOREIGN KEY (`target_id`) REFERENCES `targets`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;