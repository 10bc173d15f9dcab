-- Calendar programs apply a change of an event they know by its sequence (RFC 5545, 3.8.7.4). Members see that an event was cancelled
-- if they saw it before.
CREATE OR REPLACE FUNCTION event_revise() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.sequence := OLD.sequence + 1;
  NEW."modifiedAt" := clock_timestamp();
  NEW."cancelledAt" := CASE WHEN NEW.state = 'cancelled' THEN
    CASE OLD.state WHEN 'published' THEN NEW."modifiedAt" ELSE OLD."cancelledAt" END END;
  RETURN NEW;
END $$;
