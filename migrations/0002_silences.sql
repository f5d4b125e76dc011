CREATE TABLE `silences` (
	`id` text PRIMARY KEY NOT NULL,
	`targets` text NOT NULL,
	`why` text NOT NULL,
	`starts_at` integer NOT NULL,
	`ends_at` integer NOT NULL
) STRICT;
