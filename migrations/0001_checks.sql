CREATE TABLE `run_results` (
	`run_key` integer NOT NULL,
	`position` integer NOT NULL,
	`outcome` text NOT NULL,
	PRIMARY KEY(`run_key`, `position`),
	FOREIGN KEY (`run_key`) REFERENCES `runs`(`key`) ON UPDATE no action ON DELETE cascade
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `runs` (
	`key` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`created_at` integer NOT NULL,
	`spec` text NOT NULL,
	`nodes` text NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `runs_id_unique` ON `runs` (`id`);