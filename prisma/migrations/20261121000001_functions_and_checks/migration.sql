-- What schema.prisma cannot say. Names: "Table_rule_check", "Table_rule_idx", "Table_rule_trigger"; functions of the storage
-- begin with storage_, of consents with consent_, of organisations with organisation_.

-- Sign-in by e-mail compares addresses in lower case.
CREATE INDEX "Person_lowerEmail_idx" ON "Person" (lower("email"));

-- A person who is erased is signed out everywhere.
CREATE INDEX "OauthRecord_account_idx" ON "OauthRecord" (("payload" ->> 'accountId')) WHERE "model" = 'Session';

-- Workers look for due deliveries of a subscription, the oldest first, and for expired leases. With an index per
-- subscription, the backlog of one subscription does not delay the others.
CREATE INDEX "Delivery_claimable_idx" ON "Delivery" ("subscriptionId", "nextAttemptAt") WHERE "state" = 'pending' AND "lease" IS NULL;
CREATE INDEX "Delivery_leased_idx" ON "Delivery" ("leasedUntil") WHERE "lease" IS NOT NULL;

ALTER TABLE "Event" ADD CONSTRAINT "Event_end_check" CHECK ("end" >= "start");

-- JSON has no NaN and no infinities.
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_score_check" CHECK ("score" NOT IN ('NaN', 'Infinity', '-Infinity'));
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_place_check" CHECK ("place" >= 1);

-- Rows of the platform that no answer could show would be 500 to each member who sees them (test/attack/hostile-data.test.ts).
-- The checks below refuse them. A Date, and the dates of the documents, have years of four digits.
CREATE FUNCTION time_fits("time" timestamptz) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN "time" >= '0001-01-01T00:00:00Z'::timestamptz AND "time" < '10000-01-01T00:00:00Z'::timestamptz;

ALTER TABLE "Person" ADD CONSTRAINT "Person_birthday_check" CHECK ("birthday" BETWEEN '0001-01-01' AND '9999-12-31');
ALTER TABLE "Membership" ADD CONSTRAINT "Membership_time_check" CHECK (time_fits("joinedAt") AND time_fits("leftAt"));
ALTER TABLE "Event" ADD CONSTRAINT "Event_time_check" CHECK (time_fits("start") AND time_fits("end"));
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_time_check" CHECK (time_fits("timestamp"));
ALTER TABLE "MemberCard" ADD CONSTRAINT "MemberCard_time_check" CHECK (time_fits("issuedAt"));
ALTER TABLE "MemberCard" ADD CONSTRAINT "MemberCard_validUntil_check" CHECK ("validUntil" BETWEEN '0001-01-01' AND '9999-12-31');
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_time_check" CHECK (time_fits("updatedAt"));
ALTER TABLE "QuizResult" ADD CONSTRAINT "QuizResult_time_check" CHECK (time_fits("submittedAt"));
ALTER TABLE "LessonCompletion" ADD CONSTRAINT "LessonCompletion_time_check" CHECK (time_fits("completedAt"));
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_time_check" CHECK (time_fits("nextAttemptAt"));

-- Ids of the platform are 1 to 255 visible characters of any script, with spaces only between them: no control characters, no
-- other white space, none without a width. In storage '' stands for no member. In UTF-8 an id may take 1,020 bytes, and a row of
-- an index 2,704: no index has three such ids.
CREATE FUNCTION id_fits(id text) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN char_length(id) BETWEEN 1 AND 255
  AND id !~ '^ | $|[\u0001-\u001f\u007f-\u00a0\u00ad\u1680\u2000-\u200b\u200e\u200f\u2028-\u202f\u205f-\u206f\u3000\ufeff]';

ALTER TABLE "Organisation" ADD CONSTRAINT "Organisation_id_check" CHECK (id_fits("id"));
ALTER TABLE "Person" ADD CONSTRAINT "Person_id_check" CHECK (id_fits("id"));
ALTER TABLE "Group" ADD CONSTRAINT "Group_id_check" CHECK (id_fits("id"));
ALTER TABLE "Calendar" ADD CONSTRAINT "Calendar_id_check" CHECK (id_fits("id"));
ALTER TABLE "Event" ADD CONSTRAINT "Event_id_check" CHECK (id_fits("id"));
ALTER TABLE "TrainingPlan" ADD CONSTRAINT "TrainingPlan_id_check" CHECK (id_fits("id"));
ALTER TABLE "Competition" ADD CONSTRAINT "Competition_id_check" CHECK (id_fits("id"));
ALTER TABLE "Discipline" ADD CONSTRAINT "Discipline_id_check" CHECK (id_fits("id"));
ALTER TABLE "CompetitionResult" ADD CONSTRAINT "CompetitionResult_id_check" CHECK (id_fits("id"));
ALTER TABLE "MemberCard" ADD CONSTRAINT "MemberCard_serial_check" CHECK (id_fits("serial"));
ALTER TABLE "Lesson" ADD CONSTRAINT "Lesson_id_check" CHECK (id_fits("id"));
ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_id_check" CHECK (id_fits("id"));
ALTER TABLE "Question" ADD CONSTRAINT "Question_id_check" CHECK (id_fits("id"));

ALTER TABLE "Team" ADD CONSTRAINT "Team_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255);
ALTER TABLE "App" ADD CONSTRAINT "App_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255);
ALTER TABLE "Client" ADD CONSTRAINT "Client_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255);

-- Lists of texts are flat and have no null among them; the texts of a row are at most 64 KiB together, as answers are not paged.
CREATE FUNCTION texts_fit(VARIADIC texts text[]) RETURNS boolean LANGUAGE sql IMMUTABLE
RETURN (
  SELECT coalesce(array_ndims(texts), 1) = 1 AND count(*) = count(one)
    AND coalesce(sum(octet_length(one)), 0) <= 65536
  FROM unnest(texts) one
);

ALTER TABLE "Organisation" ADD CONSTRAINT "Organisation_texts_check" CHECK (texts_fit("name"));
ALTER TABLE "Person" ADD CONSTRAINT "Person_texts_check" CHECK (texts_fit("firstName", "lastName", "email", "image"));
ALTER TABLE "Group" ADD CONSTRAINT "Group_texts_check" CHECK (texts_fit("name"));
ALTER TABLE "Calendar" ADD CONSTRAINT "Calendar_texts_check" CHECK (texts_fit("name"));
ALTER TABLE "Event" ADD CONSTRAINT "Event_texts_check" CHECK (texts_fit("title", "location"));
ALTER TABLE "TrainingPlan" ADD CONSTRAINT "TrainingPlan_texts_check" CHECK (texts_fit("name", "category", "description"));
ALTER TABLE "Exercise" ADD CONSTRAINT "Exercise_texts_check" CHECK (texts_fit("name"));
ALTER TABLE "Competition" ADD CONSTRAINT "Competition_texts_check" CHECK (texts_fit("name"));
ALTER TABLE "Discipline" ADD CONSTRAINT "Discipline_texts_check" CHECK (texts_fit("name"));
ALTER TABLE "MemberCard" ADD CONSTRAINT "MemberCard_texts_check" CHECK (texts_fit("status", "name", "memberNumber"));
ALTER TABLE "MemberCard" ADD CONSTRAINT "MemberCard_departments_check" CHECK (texts_fit(VARIADIC "departments"));
ALTER TABLE "Lesson" ADD CONSTRAINT "Lesson_texts_check" CHECK (texts_fit("title"));
ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_texts_check" CHECK (texts_fit("title"));
ALTER TABLE "Question" ADD CONSTRAINT "Question_texts_check" CHECK (texts_fit("text"));
ALTER TABLE "Question" ADD CONSTRAINT "Question_options_check" CHECK (texts_fit(VARIADIC "options"));
ALTER TABLE "Question" ADD CONSTRAINT "Question_solution_check" CHECK (texts_fit(VARIADIC "solution"));

-- "Person_lowerEmail_idx" holds the address.
ALTER TABLE "Person" ADD CONSTRAINT "Person_email_check" CHECK (octet_length("email") <= 1024);

ALTER TABLE "App" ADD CONSTRAINT "App_webhookSecret_check" CHECK ("webhookSecret" IS NULL OR "webhookUrl" IS NOT NULL);

-- A first-party client has neither a team nor an app.
ALTER TABLE "Client" ADD CONSTRAINT "Client_firstParty_check" CHECK ("teamId" IS NOT NULL OR "appId" IS NULL);

-- Clients of a team are public: only a first-party client has a secret or keys, and not both.
ALTER TABLE "Client" ADD CONSTRAINT "Client_credentials_check" CHECK (num_nonnulls("secretHash", "jwks") <= CASE WHEN "teamId" IS NULL THEN 1 ELSE 0 END);

-- "owner" is part of the primary key, which cannot hold null; "memberId" is the same value for the foreign key.
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_owner_check" CHECK ("owner" = coalesce("memberId", ''));
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_collection_check" CHECK ("collection" ~ '^[A-Za-z0-9_-]{1,64}$');
ALTER TABLE "StorageEntry" ADD CONSTRAINT "StorageEntry_key_check" CHECK ("key" ~ '^[A-Za-z0-9_-]{1,64}$');
ALTER TABLE "StorageUsage" ADD CONSTRAINT "StorageUsage_bytes_check" CHECK ("bytes" >= 0);

ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_threshold_check" CHECK ("threshold" BETWEEN 0 AND 100);
ALTER TABLE "Quiz" ADD CONSTRAINT "Quiz_attemptsAllowed_check" CHECK ("attemptsAllowed" >= 1);

-- Nobody could answer such a question right.
ALTER TABLE "Question" ADD CONSTRAINT "Question_offeredSolution_check"
  CHECK ("type" NOT IN ('single', 'multiple') OR coalesce("solution", '{}') <@ coalesce("options", '{}'));
ALTER TABLE "Question" ADD CONSTRAINT "Question_singleSolution_check"
  CHECK ("type" <> 'single' OR cardinality(coalesce("solution", '{}')) = 1);

ALTER TABLE "QuizResult" ADD CONSTRAINT "QuizResult_id_check" CHECK (octet_length("id") BETWEEN 1 AND 255);
ALTER TABLE "QuizResult" ADD CONSTRAINT "QuizResult_score_check" CHECK ("score" BETWEEN 0 AND 100 AND "threshold" BETWEEN 0 AND 100);
ALTER TABLE "QuizResult" ADD CONSTRAINT "QuizResult_gradedQuestions_check" CHECK ("gradedQuestions" >= 0);

-- Only a pending delivery has a next attempt; a lease has an end.
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_due_check" CHECK (("state" = 'pending') = ("nextAttemptAt" IS NOT NULL));
ALTER TABLE "Delivery" ADD CONSTRAINT "Delivery_lease_check" CHECK (("lease" IS NULL) = ("leasedUntil" IS NULL));

ALTER TABLE "SecretsKeyCheck" ADD CONSTRAINT "SecretsKeyCheck_singleRow_check" CHECK ("id" = 1);

-- Groups, calendars, events, plans, participations, cards and storage are of clubs, lessons and quizzes of academies, apps of
-- providers. An organisation keeps its kind. A missing organisation is left to the foreign key. For 100,000 events, 1 s.
CREATE FUNCTION organisation_refuse("table" text, id text, wanted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'A row of "%" needs a %, and % is of another kind.', "table", wanted, id
    USING ERRCODE = 'check_violation', CONSTRAINT = "table" || '_kind_check', TABLE = "table";
END $$;

CREATE FUNCTION organisation_check_club() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Organisation" WHERE id = NEW."clubId" AND kind <> 'club';
  IF FOUND THEN
    PERFORM organisation_refuse(TG_TABLE_NAME, NEW."clubId", 'club');
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION organisation_check_academy() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Organisation" WHERE id = NEW."academyId" AND kind <> 'academy';
  IF FOUND THEN
    PERFORM organisation_refuse(TG_TABLE_NAME, NEW."academyId", 'academy');
  END IF;
  RETURN NEW;
END $$;

CREATE FUNCTION organisation_check_provider() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Organisation" WHERE id = NEW."providerId" AND kind <> 'provider';
  IF FOUND THEN
    PERFORM organisation_refuse(TG_TABLE_NAME, NEW."providerId", 'provider');
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER "Group_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "Group"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
CREATE TRIGGER "Calendar_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "Calendar"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
CREATE TRIGGER "Event_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "Event"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
CREATE TRIGGER "TrainingPlan_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "TrainingPlan"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
CREATE TRIGGER "Participation_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "Participation"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
CREATE TRIGGER "MemberCard_kind_trigger" BEFORE INSERT OR UPDATE OF "clubId" ON "MemberCard"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();
CREATE TRIGGER "Lesson_kind_trigger" BEFORE INSERT OR UPDATE OF "academyId" ON "Lesson"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_academy();
CREATE TRIGGER "Quiz_kind_trigger" BEFORE INSERT OR UPDATE OF "academyId" ON "Quiz"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_academy();
CREATE TRIGGER "App_kind_trigger" BEFORE INSERT OR UPDATE OF "providerId" ON "App"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_provider();

-- Once for each store, after the insertion: a value that is put into a store that exists runs no check.
CREATE TRIGGER "StorageUsage_kind_trigger" AFTER INSERT OR UPDATE OF "clubId" ON "StorageUsage"
  FOR EACH ROW EXECUTE FUNCTION organisation_check_club();

CREATE FUNCTION organisation_keep_kind() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'The organisation % keeps the kind %.', OLD.id, OLD.kind
    USING ERRCODE = 'check_violation', CONSTRAINT = 'Organisation_kind_check', TABLE = 'Organisation';
END $$;

CREATE TRIGGER "Organisation_kind_trigger" BEFORE UPDATE OF "kind" ON "Organisation"
  FOR EACH ROW WHEN (OLD."kind" <> NEW."kind") EXECUTE FUNCTION organisation_keep_kind();

-- An event without a calendar and without groups is for the whole club. So the last group of an event takes it along, or what
-- was for a few would be shown to all. Locked first: of two transactions that remove the last two groups, the second waits here,
-- and then finds the other group gone.
CREATE FUNCTION group_remove_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM "Event" WHERE id IN (SELECT "eventId" FROM "EventGroup" WHERE "groupId" = OLD.id) ORDER BY id FOR UPDATE;
  DELETE FROM "Event" event USING "EventGroup" own
  WHERE own."groupId" = OLD.id AND own."eventId" = event.id AND event."calendarId" IS NULL AND NOT EXISTS (
    SELECT FROM "EventGroup" other JOIN "Group" ON "Group".id = other."groupId"
    WHERE other."eventId" = event.id AND other."groupId" <> OLD.id
  );
  RETURN OLD;
END $$;

CREATE TRIGGER "Group_removeEvents_trigger" BEFORE DELETE ON "Group" FOR EACH ROW EXECUTE FUNCTION group_remove_events();

-- Leaving ends a member's consents for the organisation. While they are away, the missing membership refuses everything (404, as
-- documented); a return, by the service, SQL or Studio, finds the consents withdrawn.
CREATE FUNCTION consent_withdraw() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "Consent" SET "withdrawnAt" = clock_timestamp()
  WHERE "personId" = NEW."personId" AND "organisationId" = NEW."organisationId" AND "withdrawnAt" IS NULL;
  RETURN NULL;
END $$;

CREATE TRIGGER "Membership_join_trigger" AFTER INSERT ON "Membership" FOR EACH ROW EXECUTE FUNCTION consent_withdraw();
CREATE TRIGGER "Membership_return_trigger" AFTER UPDATE ON "Membership" FOR EACH ROW
  WHEN (OLD."leftAt" <= clock_timestamp() OR (OLD."organisationId", OLD."personId") <> (NEW."organisationId", NEW."personId"))
  EXECUTE FUNCTION consent_withdraw();

-- "StorageUsage".bytes is the sum of the bytes of an app's values in a club, however they change: by the service, by Studio, or by the
-- cascade that removes a member.
CREATE FUNCTION storage_add_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO "StorageUsage" ("appId", "clubId", bytes) VALUES (NEW."appId", NEW."clubId", octet_length(NEW.value))
    ON CONFLICT ("appId", "clubId") DO UPDATE SET bytes = "StorageUsage".bytes + EXCLUDED.bytes;
  ELSIF (NEW."appId", NEW."clubId") <> (OLD."appId", OLD."clubId") THEN
    RAISE EXCEPTION 'The app and the club of a storage entry cannot change.';
  ELSE
    UPDATE "StorageUsage" SET bytes = bytes + octet_length(NEW.value) - octet_length(OLD.value)
    WHERE "appId" = NEW."appId" AND "clubId" = NEW."clubId";
  END IF;
  RETURN NULL;
END $$;

CREATE TRIGGER "StorageEntry_addUsage_trigger" AFTER INSERT OR UPDATE OF "appId", "clubId", value ON "StorageEntry"
  FOR EACH ROW EXECUTE FUNCTION storage_add_usage();

-- Once per statement: row by row, removing a large store would write a new version of its usage row for each entry, and
-- read through all of these versions each time.
CREATE FUNCTION storage_subtract_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE "StorageUsage" usage SET bytes = usage.bytes - removed.bytes
  FROM (SELECT "appId", "clubId", sum(octet_length(value)) AS bytes FROM old_entries GROUP BY "appId", "clubId") removed
  WHERE usage."appId" = removed."appId" AND usage."clubId" = removed."clubId";
  RETURN NULL;
END $$;

CREATE TRIGGER "StorageEntry_subtractUsage_trigger" AFTER DELETE ON "StorageEntry" REFERENCING OLD TABLE AS old_entries
  FOR EACH STATEMENT EXECUTE FUNCTION storage_subtract_usage();

-- By other hands than the triggers' own (depth 0), the usage can only be set to that sum. Deferred: who erases a store removes
-- its usage row first, and storage_put creates it.
CREATE FUNCTION storage_check_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  store record := coalesce(NEW, OLD);
BEGIN
  IF coalesce((SELECT bytes FROM "StorageUsage" WHERE "appId" = store."appId" AND "clubId" = store."clubId"), 0)
    <> (SELECT coalesce(sum(octet_length(value)), 0) FROM "StorageEntry" WHERE "appId" = store."appId" AND "clubId" = store."clubId")
  THEN
    RAISE EXCEPTION 'The usage of a store is the sum of the bytes of its values.' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$;

CREATE CONSTRAINT TRIGGER "StorageUsage_checkUsage_trigger" AFTER INSERT OR UPDATE OR DELETE ON "StorageUsage"
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (pg_trigger_depth() = 0) EXECUTE FUNCTION storage_check_usage();

-- Changes by other hands than storage_put: the value has to be JSON, and version and time are new. Of type json, as jsonb
-- refuses values that the service takes: "\u0000", 1e400, lone surrogates. storage_put, whose caller has checked the value,
-- announces its own statement by a setting, which an error takes back too. (A SET clause of the function needs a superuser.)
CREATE FUNCTION storage_check_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM NEW.value::json;
  NEW.version := gen_random_uuid();
  NEW."updatedAt" := clock_timestamp();
  RETURN NEW;
END $$;

CREATE TRIGGER "StorageEntry_checkEntry_trigger" BEFORE INSERT OR UPDATE ON "StorageEntry"
  FOR EACH ROW WHEN (current_setting('storage.put', true) IS DISTINCT FROM 'on') EXECUTE FUNCTION storage_check_entry();

-- Writers and the removal of a member, an app or a club lock in one order: app, club and membership, then the usage rows,
-- then the entries. In another order they deadlock, and each deadlock stops the app's writers for a second.
CREATE FUNCTION storage_lock_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'App' THEN
    PERFORM FROM "StorageUsage" WHERE "appId" = OLD.id ORDER BY "clubId" FOR NO KEY UPDATE;
  ELSIF TG_TABLE_NAME = 'Organisation' THEN
    PERFORM FROM "StorageUsage" WHERE "clubId" = OLD.id ORDER BY "appId" FOR NO KEY UPDATE;
  ELSE
    PERFORM FROM "StorageUsage" WHERE "clubId" = OLD."organisationId" ORDER BY "appId" FOR NO KEY UPDATE;
  END IF;
  RETURN OLD;
END $$;

CREATE TRIGGER "App_lockUsage_trigger" BEFORE DELETE ON "App" FOR EACH ROW EXECUTE FUNCTION storage_lock_usage();
CREATE TRIGGER "Organisation_lockUsage_trigger" BEFORE DELETE ON "Organisation" FOR EACH ROW EXECUTE FUNCTION storage_lock_usage();
CREATE TRIGGER "Membership_lockUsage_trigger" BEFORE DELETE ON "Membership" FOR EACH ROW EXECUTE FUNCTION storage_lock_usage();

-- Whether the current version (null: no entry) meets If-Match and If-None-Match (null: not sent; '*': any version).
CREATE FUNCTION storage_meets(version text, if_match text[], if_none_match text[]) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(if_match IS NULL OR (version IS NOT NULL AND ('*' = ANY (if_match) OR version = ANY (if_match))), false)
    AND (if_none_match IS NULL OR version IS NULL OR NOT ('*' = ANY (if_none_match) OR version = ANY (if_none_match)))
$$;

-- Stores a value. The outcome is 'stored', 'changed' when a precondition fails, or 'full' when the value grows the total
-- over the quota; used is the total afterwards. The usage row is the lock of an app's storage in a club. It is taken before
-- the entry is read: each statement of the function sees what was committed before it, so size and version are current.
CREATE FUNCTION storage_put(
  app text, club text, owned_by text, in_collection text, under_key text, new_value text, new_version uuid,
  written_at timestamptz, quota bigint, if_match text[], if_none_match text[]
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  old_bytes bigint;
  old_version text;
  growth bigint;
  announced text;
BEGIN
  PERFORM FROM "App" WHERE id = app FOR KEY SHARE;
  PERFORM FROM "Organisation" WHERE id = club FOR KEY SHARE;
  IF owned_by <> '' THEN
    PERFORM FROM "Membership" WHERE "organisationId" = club AND "personId" = owned_by FOR KEY SHARE;
  END IF;
  SELECT bytes INTO used FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  IF NOT FOUND THEN
    INSERT INTO "StorageUsage" ("appId", "clubId") VALUES (app, club) ON CONFLICT DO NOTHING;
    SELECT bytes INTO used FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  END IF;

  SELECT octet_length(value), version::text INTO old_bytes, old_version FROM "StorageEntry"
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;
  growth := octet_length(new_value) - coalesce(old_bytes, 0);

  IF NOT storage_meets(old_version, if_match, if_none_match) THEN
    outcome := 'changed';
  ELSIF growth > 0 AND used + growth > quota THEN
    outcome := 'full';
  ELSE
    announced := set_config('storage.put', 'on', true);
    INSERT INTO "StorageEntry" ("appId", "clubId", owner, collection, key, "memberId", value, version, "updatedAt")
    VALUES (app, club, owned_by, in_collection, under_key, nullif(owned_by, ''), new_value, new_version, written_at)
    ON CONFLICT ("appId", "clubId", owner, collection, key)
    DO UPDATE SET value = EXCLUDED.value, version = EXCLUDED.version, "updatedAt" = EXCLUDED."updatedAt";
    announced := set_config('storage.put', 'off', true);
    outcome := 'stored';
    used := used + growth;
  END IF;
  RETURN NEXT;
END $$;

-- Removes an entry. The outcome is 'deleted', 'changed' when a precondition fails, or 'absent'.
CREATE FUNCTION storage_delete(
  app text, club text, owned_by text, in_collection text, under_key text, if_match text[], if_none_match text[]
) RETURNS TABLE (outcome text, used bigint) LANGUAGE plpgsql AS $$
DECLARE
  old_bytes bigint;
  old_version text;
BEGIN
  SELECT bytes INTO used FROM "StorageUsage" WHERE "appId" = app AND "clubId" = club FOR NO KEY UPDATE;
  SELECT octet_length(value), version::text INTO old_bytes, old_version FROM "StorageEntry"
  WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;

  IF NOT storage_meets(old_version, if_match, if_none_match) THEN
    outcome := 'changed';
  ELSIF old_version IS NULL THEN
    outcome := 'absent';
  ELSE
    DELETE FROM "StorageEntry"
    WHERE "appId" = app AND "clubId" = club AND owner = owned_by AND collection = in_collection AND key = under_key;
    outcome := 'deleted';
    used := used - old_bytes;
  END IF;
  used := coalesce(used, 0);
  RETURN NEXT;
END $$;
