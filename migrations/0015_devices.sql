CREATE TABLE `devices` (
	`id` text PRIMARY KEY NOT NULL,
	`recipient` text NOT NULL,
	`name` text NOT NULL,
	`user` text,
	`origin` text NOT NULL,
	`endpoint` text NOT NULL,
	`p256dh` text NOT NULL,
	`auth` text NOT NULL,
	`created_at` integer NOT NULL
);
