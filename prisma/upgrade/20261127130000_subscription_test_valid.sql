ALTER TABLE "Subscription" VALIDATE CONSTRAINT "Subscription_test_check";
