/**
 * The issuer of a record: undefined at AUTH_BASE_URL, and `local` at a trial's second one, at localhost. In the record's payload;
 * a record of one is none of the other's.
 */
export type Realm = 'local' | undefined
