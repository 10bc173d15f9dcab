/** SECRETS_KEY of every service process on the shared database, as each has a DATA_DIR of its own. */
export const SECRETS_KEY = Buffer.alloc(32, 'test').toString('base64')
