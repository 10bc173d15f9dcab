-- Nodes of the release before write neither column; for them an address of the sandbox is a subscription of tests.
ALTER TABLE "Subscription" ADD COLUMN     "address" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "paused" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "types" TEXT[] COLLATE "C" DEFAULT ARRAY[]::TEXT[] CHECK (texts_fit(VARIADIC "types"));

-- NOT VALID, as they read no rows: those of before have neither.
ALTER TABLE "Subscription"
  DROP CONSTRAINT "Subscription_test_check",
  ADD CONSTRAINT "Subscription_test_check" CHECK (NOT "test" OR "address" OR "id" = 'test:' || "appId") NOT VALID,
  ADD CONSTRAINT "Subscription_address_check" CHECK (CASE WHEN "address"
    THEN cardinality("types") <= 50 AND (NOT "paused" OR "endedAt" IS NOT NULL)
    ELSE NOT "paused" AND cardinality("types") = 0 END) NOT VALID;
