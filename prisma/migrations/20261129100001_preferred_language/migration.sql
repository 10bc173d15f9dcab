-- Not `language`: statements of the release before select that of a mail beside a person.
ALTER TABLE "Person" ADD COLUMN "preferredLanguage" "Language";
