/** The one SECRETS_KEY of the services that are started on the database of the run, each with a DATA_DIR of its own. */
export const SECRETS_KEY = Buffer.alloc(32, 'test').toString('base64')
