CREATE TABLE `heartbeats` (
	`target_id` integer PRIMARY KEY NOT NULL,
	`heard` text NOT NULL,
	FOREIGN KEY (`target_id`) REFERENCES `targets`(`id`) ON UPDATE no action ON DELETE no action
);
