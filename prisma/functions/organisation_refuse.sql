-- Groups, calendars, events, plans, participations, cards and storage are of clubs, lessons and quizzes of academies, apps of
-- providers. An organisation keeps its kind. A missing organisation is left to the foreign key. For 100,000 events, 1 s.
CREATE OR REPLACE FUNCTION organisation_refuse("table" text, id text, wanted text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'A row of "%" needs a %, and % is of another kind.', "table", wanted, id
    USING ERRCODE = 'check_violation', CONSTRAINT = "table" || '_kind_check', TABLE = "table";
END $$;
