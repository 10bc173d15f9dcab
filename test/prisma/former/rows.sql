-- What people and apps add to the demo data, at any of the commits. Values of entries are those that jsonb or a parser would change.
SELECT storage_put('hobby-app', 'riverside', owner, collection, key, value, gen_random_uuid(), '2026-11-22T09:00:00Z', 1000000, null, null)
FROM (VALUES
  ('', 'notes', 'exact', '{ "b":1.0, "a":1E+2, "a":[ -0, 9007199254740993, 123456789012345678901234567890 ] }'),
  ('', 'notes', 'escaped', '"\u0000 \ud800 \/ ü 🏅"'),
  ('', 'notes', 'huge', '1e400'),
  ('', 'notes', 'removed', '"gone"'),
  ('', 'scores', 'one', '1'),
  ('anna', 'notes', 'exact', '"private"'),
  ('ben', 'drafts', 'long', to_json(repeat('Übung 🏅 ', 500))::text)
) entries (owner, collection, key, value);
SELECT storage_put('trainer-app', 'riverside', '', 'plans', 'p', '{"__proto__":1}', gen_random_uuid(), '2026-11-22T09:00:01Z', 1000000, null, null);
SELECT storage_put('hobby-app', 'riverside', '', 'scores', 'one', '12', gen_random_uuid(), '2026-11-22T09:00:02Z', 1000000, null, null);
SELECT storage_delete('hobby-app', 'riverside', '', 'notes', 'removed', null, null);

INSERT INTO "Person" (id, "firstName", "lastName", email) VALUES ('zoë', 'Zoë', 'Größe', 'Zoë@Größe.example');
INSERT INTO "Membership" ("organisationId", "personId") VALUES ('riverside', 'zoë');
INSERT INTO "Consent" (id, "personId", "organisationId", "clientId", scopes, "createdAt", "withdrawnAt") VALUES
  ('given', 'anna', 'riverside', 'hobby-app', '{svc.me.profile:read}', '2026-11-20T10:00:00Z', null),
  ('withdrawn', 'ben', 'riverside', 'hobby-app', '{svc.me.profile:read}', '2026-11-20T10:00:00Z', '2026-11-21T10:00:00Z');
INSERT INTO "LoginIdentity" (issuer, subject, "personId") VALUES ('https://login.example', 'subject-1', 'anna');
INSERT INTO "OauthRecord" (model, id, payload, "grantId", "expiresAt")
VALUES ('RefreshToken', 'token', '{"accountId": "anna", "jti": "token"}', 'grant', '2027-11-20T10:00:00Z');
INSERT INTO "SigningKey" (kid, ciphertext, "signsFrom") VALUES ('key-1', 'ciphertext', '2026-11-20T10:00:00Z');
INSERT INTO "SecretsKeyCheck" (ciphertext) VALUES ('ciphertext');
INSERT INTO "Subscription" (id, "appId", subscriber, url, secret, "endedAt") VALUES
  ('subscription', 'hobby-app', 'riverside', 'https://hobby.example/hook', 'ciphertext', null),
  ('ended', 'hobby-app', 'northgate', null, null, '2026-11-21T10:00:00Z');
INSERT INTO "PublishedEvent" ("appId", id, type, body, "publishedAt") VALUES
  ('hobby-app', 'event-1', 'course.booked', '{"n": 1.0}', '2026-11-21T10:00:00Z'),
  ('hobby-app', 'event-2', 'course.booked', '{"n": 2.0}', '2026-11-21T10:00:01Z');
INSERT INTO "Delivery" (id, "appId", "eventId", "subscriptionId", state, attempts, "lastStatus", "nextAttemptAt", "createdAt", "finishedAt") VALUES
  ('delivered', 'hobby-app', 'event-1', 'subscription', 'delivered', 1, 200, null, '2026-11-21T10:00:00Z', '2026-11-21T10:00:01Z'),
  ('pending', 'hobby-app', 'event-2', 'subscription', 'pending', 2, 503, '2026-11-21T10:05:00Z', '2026-11-21T10:00:01Z', null);
INSERT INTO "QuizResult" (id, "quizId", "personId", score, passed, "reviewStatus", "gradedQuestions", threshold, "submittedAt")
VALUES ('result', 'choice-quiz', 'anna', 200.0 / 3, true, 'passed', 3, 60, '2026-11-21T10:00:00Z');
INSERT INTO "Answer" ("resultId", "quizId", "questionId", value, correct) VALUES ('result', 'choice-quiz', 'q1', '["a"]', true);
INSERT INTO "IdempotencyRecord" ("clientId", "personId", "organisationId", "quizId", key, "bodyHash", answer, "createdAt")
VALUES ('hobby-app', 'anna', 'academy', 'choice-quiz', 'key', 'hash', '{}', '2026-11-21T10:00:00Z');
