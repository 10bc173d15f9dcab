import pg from 'pg'
import type { BenchedRoute } from '../routes/route.ts'
import { routes } from '../routes/routes.ts'

/** Shared by the programs with bare handlers: connections, and the route that answers. */
const { DATABASE_URL, ROUTE } = process.env
export const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' })

/** By the request for the mixed load; otherwise always ROUTE, without routing. */
export const findRoute: (method: string, url: string) => BenchedRoute =
  ROUTE === 'mixed' ? mixedRoute : () => routes[ROUTE!]!

function mixedRoute(method: string, url: string): BenchedRoute {
  const [, , section, name, key] = url.split('/')
  if (section === 'me') return routes[name!]!
  return routes[method === 'PUT' ? 'put' : key ? 'get' : 'list']!
}
