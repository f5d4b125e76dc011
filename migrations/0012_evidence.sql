CREATE TABLE `evidence` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`incident_id` text NOT NULL,
	`gathered_at` integer NOT NULL,
	`occasion` text NOT NULL,
	`node` text NOT NULL,
	`content` blob NOT NULL,
	FOREIGN KEY (`incident_id`) REFERENCES `incidents`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `evidence_once` ON `evidence` (`incident_id`,`gathered_at`,`node`);--> statement-breakpoint
CREATE TABLE `good_evidence` (
	`target` text NOT NULL,
	`node` text NOT NULL,
	`gathered_at` integer NOT NULL,
	`content` blob NOT NULL,
	PRIMARY KEY(`target`, `node`)
) STRICT, WITHOUT ROWID;
