/** CONSENT_AGE: the age from which members allow apps alone, by the country of the organisation; that of '' is for all others. */
export type ConsentAges = ReadonlyMap<string, number>

/** By country, the last birthday of those who are of age on that day (UTC), as text: 29 February exists in every year of it. */
export function findBirthdays(ages: ConsentAges, now: number): Readonly<Record<string, string>> {
  const [year, ...day] = new Date(now).toISOString().slice(0, 10).split('-')
  const before = (age: number) => [String(Number(year) - age).padStart(4, '0'), ...day].join('-')
  return Object.fromEntries([...ages].map(([country, age]) => [country, before(age)]))
}

/**
 * SQL condition: an age applies to the "Organisation" `organisation`, and the "Person" `child` is below it, or has no birthday.
 * `$birthdays` are those of `findBirthdays`.
 */
export const IS_BELOW_AGE = `(organisation."testTeamId" IS NULL AND (
    SELECT last IS NOT NULL AND (child.birthday IS NULL OR to_char(child.birthday, 'YYYY-MM-DD') > last)
    FROM (SELECT coalesce($birthdays::jsonb ->> organisation.country, $birthdays::jsonb ->> '') AS last) own))`

/** SQL condition on a "Guardian" at the time `$at`. */
export const IS_IN_FORCE = `("until" IS NULL OR "until" >= ($at::timestamptz AT TIME ZONE 'UTC')::date)`

/**
 * SQL with the columns `id` and `isGuardian`: who decides on a "ChildRequest" `request`. Administrators do where nobody is a
 * guardian.
 */
export const DECIDERS = `(
    WITH guardian AS (SELECT "guardianId" AS id FROM "Guardian" WHERE "childId" = request."childId" AND ${IS_IN_FORCE})
    SELECT id, true AS "isGuardian" FROM guardian
    UNION ALL SELECT "personId", false FROM "Membership"
      WHERE "organisationId" = request."organisationId" AND administrator AND ("leftAt" IS NULL OR "leftAt" > $at::timestamptz)
        AND "personId" <> request."childId" AND NOT EXISTS (SELECT FROM guardian))`
