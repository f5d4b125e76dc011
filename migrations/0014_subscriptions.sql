CREATE TABLE `subscribers` (
	`id` text PRIMARY KEY NOT NULL,
	`page` text NOT NULL,
	`address` text NOT NULL,
	`language` text NOT NULL,
	`secret` text NOT NULL,
	`asked_at` integer NOT NULL,
	`confirmed_at` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `subscribers_once` ON `subscribers` (`page`,`address`);--> statement-breakpoint
CREATE TABLE `subscription_events` (
	`page` text NOT NULL,
	`name` text NOT NULL,
	`at` integer NOT NULL,
	PRIMARY KEY(`page`, `name`)
);
--> statement-breakpoint
CREATE TABLE `subscription_mails` (
	`id` text PRIMARY KEY NOT NULL,
	`subscriber` text NOT NULL,
	`news` text NOT NULL,
	`created_at` integer NOT NULL,
	`next_attempt_at` integer NOT NULL,
	`attempts` integer NOT NULL,
	FOREIGN KEY (`subscriber`) REFERENCES `subscribers`(`id`) ON UPDATE no action ON DELETE no action
);
--> statement-breakpoint
CREATE INDEX `subscription_mails_due` ON `subscription_mails` (`next_attempt_at`);--> statement-breakpoint
ALTER TABLE `notes` ADD `thread` text;--> statement-breakpoint
ALTER TABLE `notes` ADD `stage` text;--> statement-breakpoint
ALTER TABLE `notes` ADD `targets` text DEFAULT '[]' NOT NULL;