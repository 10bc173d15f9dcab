ALTER TABLE "Delivery" VALIDATE CONSTRAINT "Delivery_times_check";
