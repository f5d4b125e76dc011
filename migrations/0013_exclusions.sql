CREATE TABLE `exclusions` (
	`id` text PRIMARY KEY NOT NULL,
	`target` text,
	`why` text NOT NULL,
	`from_at` integer NOT NULL,
	`to_at` integer NOT NULL,
	`created_at` integer NOT NULL
);
