import type { ServerResponse } from 'node:http'
import { createGet } from '../../server/outgoing/get.ts'
import { startedAround } from '../support/started.ts'
import { id } from '../support/tenant.ts'
import { selfSigned, startReceiver } from '../webhooks/receiver.ts'
import type { Asked } from './auth-world.ts'
import { startAuthWorld } from './auth-world.ts'
import { offered } from './browser.ts'

export const redirectUri = 'https://tool.example/back'
export const scope = 'svc.me.profile:read svc.apps.storage:write'

type Respond = (response: ServerResponse) => unknown

export const respondWith =
  (body: string, headers: Record<string, string> = {}, status = 200): Respond =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body)

export type DocumentWorld = Awaited<ReturnType<typeof startDocumentWorld>>

/** A service that reads clients' documents, from a server for three hosts. Nothing is cached but where a document says so. */
export async function startDocumentWorld(options: Parameters<typeof startAuthWorld>[0] = {}) {
  const [host, other, elsewhere] = [id('tool'), id('other'), id('elsewhere')].map((name) => `${name}.example`)
  const responses = new Map<string, Respond>()
  const receiver = await startReceiver({
    certificate: selfSigned([host!, other!, elsewhere!, 'xn--bcher-kva.example']),
    answer: ({ path, headers }, response) => {
      const respond = responses.get(`https://${headers.host}${path}`)
      return respond ? respond(response) : respondWith('', {}, 404)(response)
    },
  })
  /** By name; 127.0.0.1 without one. */
  const addresses = new Map<string, string[]>()
  const get = createGet({
    allow: ['127.0.0.1'],
    ca: receiver.ca,
    resolve: async (name) => addresses.get(name) ?? ['127.0.0.1'],
  })
  const documents = { get, cached: { min: 0, max: 3_600 } }
  const auth = await startAuthWorld({ documents, ...options })
  const { world } = auth
  const at = (path: string, name = host!) => `https://${name}:${receiver.port}${path}`

  /** Publishes a document, by default of a web app. Returns its address. */
  const publish = (address: string, fields: Record<string, unknown> = {}, headers: Record<string, string> = {}) => {
    const document = { client_id: address, client_name: 'Tool', redirect_uris: [redirectUri], ...fields }
    responses.set(address, respondWith(JSON.stringify(document), headers))
    return address
  }
  /** Up to the consent page, or to the page in place of it. */
  const ask = async (
    client: string,
    more: Partial<Asked> = {},
    member = world.ids.member,
    browser = auth.newBrowser(),
  ) => {
    const { url, verifier } = auth.authorizeUrl({ client, scope, redirectUri, ...more })
    return { page: await auth.toConsent(browser, url, member), verifier, browser }
  }
  const allow = async (client: string, member?: string, more: Partial<Asked> = {}) => {
    const { page, verifier, browser } = await ask(client, more, member)
    const [organisation] = offered(page, 'organisation')
    const fields = { organisation: organisation!, scope: scope.split(' '), decision: 'allow' }
    const back = await browser.submit(page, 'consent', fields)
    const code = back.location!.searchParams.get('code')!
    return { browser, ...(await auth.exchange(client, code, verifier, more.redirectUri ?? redirectUri)) }
  }
  /** The rows of the three hosts. */
  const rows = async () => {
    const id = { in: [host!, other!, elsewhere!].map((name) => `https://${name}:${receiver.port}`) }
    return {
      teams: await world.db.team.findMany({ where: { id } }),
      apps: await world.db.app.findMany({ where: { id }, omit: { logo: true, wantedLogo: true } }),
      clients: await world.db.client.findMany({ where: { teamId: id } }),
    }
  }

  return {
    ...auth,
    world: {
      ...world,
      async close() {
        await world.close()
        await receiver.close()
      },
    },
    host: host!,
    other: other!,
    elsewhere: elsewhere!,
    at,
    addresses,
    responses,
    /** Addresses that were asked for. */
    asked: () => receiver.received.map(({ path, headers }) => `https://${headers.host}${path}`),
    received: receiver.received,
    documents,
    publish,
    ask,
    allow,
    rows,
  }
}

export const documentWorld = () => startedAround(() => startDocumentWorld())
