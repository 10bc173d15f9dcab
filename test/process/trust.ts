import { pgClient } from '../support/pg-client.ts'

/** Whether the server at this address lets everybody in (`trust`), whatever the password. */
export async function takesAnyPassword(address: string): Promise<boolean> {
  const url = new URL(address)
  url.password = 'canary'
  const client = pgClient(url.href)
  return client.connect().then(
    () => client.end().then(() => true),
    () => false,
  )
}
