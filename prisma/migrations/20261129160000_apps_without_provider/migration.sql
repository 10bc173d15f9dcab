-- The app of a host of client metadata documents, which no provider has registered. Nodes of 0.1.0 read providers of others alone.
ALTER TABLE "App" ALTER COLUMN "providerId" DROP NOT NULL;
ALTER TABLE "App" ADD CONSTRAINT "App_provider_check" CHECK ("providerId" IS NOT NULL OR starts_with("id", 'https://'));
