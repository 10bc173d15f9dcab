-- The lists of deliveries show both; without the lock of a look at millions of rows.
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_times_check" CHECK (time_fits("createdAt") AND time_fits("lastAttemptAt")) NOT VALID;
