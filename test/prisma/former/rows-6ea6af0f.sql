-- What only 6ea6af0f stores, after rows.sql.
INSERT INTO "CollectionRule" VALUES ('hobby-app', 'ruled', 'author');
SELECT storage_write_ruled('hobby-app', 'riverside', '', 'ruled', 'own', '"anna''s"', gen_random_uuid(), '2026-11-26T09:00:00Z', 1000000, null, null, 'anna');
SELECT storage_write('hobby-app', 'riverside', '', 'notes', 'written', '"by ben"', gen_random_uuid(), '2026-11-26T09:00:01Z', 1000000, null, null, 'ben');
SELECT storage_batch('hobby-app', 'riverside', 'ben', '{put,delete}', '{"",""}', '{batch,scores}', '{k,one}', '{true,NULL}', '{NULL,NULL}', '{NULL,NULL}',
  '2026-11-26T09:00:02Z', 1000000, 1000000);
SELECT event_number('hobby-app', 201);
UPDATE "Consent" SET "withdrawnAt" = '2026-11-26T10:00:00Z' WHERE id = 'given';
INSERT INTO "ClientSecret" (id, "clientId", hash, "createdAt", "expiresAt")
VALUES ('secret', 'hobby-app', repeat('h', 43), '2026-11-26T10:00:00Z', '2027-11-20T10:00:00Z');
INSERT INTO "RsaSigningKey" (kid, ciphertext, "signsFrom") VALUES ('rsa', 'ciphertext', '2026-11-26T10:00:00Z');
INSERT INTO "ClubApproval" (id, "organisationId", "appId", state, "requestedAt") VALUES ('approval', 'riverside', 'hobby-app', 'requested', '2026-11-26T10:00:00Z');
INSERT INTO "Mail" (id, kind, "teamId", email, "invitationId", language, about, "createdAt")
VALUES ('mail', 'invitation', (SELECT min(id) FROM "Team"), 'new@example.org', 'invitation', 'de', '{}', '2026-11-26T10:00:00Z');
INSERT INTO "DeliveryAttempt" VALUES ('delivered', 1, '2026-11-21T10:00:00Z', 20, 200, null, 'ok');
INSERT INTO "AuditEntry" ("teamId", "clientId", action, target, at)
VALUES ((SELECT min(id) FROM "Team"), 'hobby-app', 'storage.put', 'notes', '2026-11-26T10:00:00Z');
