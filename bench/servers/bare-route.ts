import pg from 'pg'
import { routes } from '../routes/routes.ts'

/** Shared by the programs with bare handlers: connections, and the handler that answers, as they have no routing. */
const { DATABASE_URL, ROUTE } = process.env
export const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' })
export const { method, bare } = routes[ROUTE!]!
