CREATE TABLE `measured_hours` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`target` text NOT NULL,
	`node` text NOT NULL,
	`hour` integer NOT NULL,
	`content` blob NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `measured_hours_once` ON `measured_hours` (`target`,`node`,`hour`);--> statement-breakpoint
CREATE INDEX `measured_hours_by_hour` ON `measured_hours` (`hour`);