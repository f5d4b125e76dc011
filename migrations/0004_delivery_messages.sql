ALTER TABLE `deliveries` ADD `message` text;--> statement-breakpoint
CREATE INDEX `deliveries_settled` ON `deliveries` (`settled_at`) WHERE state = 'sent';