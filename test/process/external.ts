export { emptyDatabase as freshDatabase, query } from '../support/databases.ts'
