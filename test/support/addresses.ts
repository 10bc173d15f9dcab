/** The same database not through PgBouncer: for sessions of a test's own, and to see who waits for whom. */
export function direct(url: string): string {
  const { TEST_DATABASE_URL: given, TEST_DATABASE_DIRECT_URL: server } = process.env
  if (!given || !server || new URL(url).host !== new URL(given).host) return url
  return withName(server, new URL(url).pathname.slice(1))
}

export const withName = (url: string, name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href
