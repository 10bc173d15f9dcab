ALTER TABLE "Subscription" VALIDATE CONSTRAINT "Subscription_test_check", VALIDATE CONSTRAINT "Subscription_address_check";
