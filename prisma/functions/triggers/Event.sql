CREATE OR REPLACE TRIGGER "Event_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "Event"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
CREATE OR REPLACE TRIGGER "Event_revise_trigger" BEFORE UPDATE ON "Event" FOR EACH ROW
  WHEN ((OLD.title, OLD.start, OLD."end", OLD.location, OLD.state, OLD."allDay")
    IS DISTINCT FROM (NEW.title, NEW.start, NEW."end", NEW.location, NEW.state, NEW."allDay"))
  EXECUTE FUNCTION event_revise();
