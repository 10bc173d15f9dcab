-- AlterTable
ALTER TABLE "Subscription" ADD COLUMN     "test" BOOLEAN NOT NULL DEFAULT false;

-- One of an app: its id is made of the app's. NOT VALID, as it reads no rows: those of before are no tests.
ALTER TABLE "Subscription" ADD CONSTRAINT "Subscription_test_check" CHECK (NOT "test" OR "id" = 'test:' || "appId") NOT VALID;
