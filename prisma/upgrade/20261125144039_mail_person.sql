-- For the export of a person.
CREATE INDEX "Mail_personId_idx" ON "Mail"("personId");
