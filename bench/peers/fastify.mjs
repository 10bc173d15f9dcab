// The operations of the bench as one would write them by hand with Fastify and Prisma: schemas for every answer, tokens that
// are verified once, Prisma on pg. No rate limit, no request ids, no consents: less than the service does.
import { PrismaPg } from '@prisma/adapter-pg'
import Fastify from 'fastify'
import { jwtVerify } from 'jose'
import { PrismaClient } from '../../prisma/generated/client.ts'
import { developmentIssuer, developmentKey } from '../../server/tokens/development.ts'
import { memberRoutes } from './fastify-member.mjs'
import { quizRoute } from './fastify-quiz.mjs'
import { storageRoutes } from './fastify-storage.mjs'

const { DATABASE_URL, DATA_DIR, PORT } = process.env
const connection = { connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' }
// Names make PostgreSQL plan each statement once.
const names = new Map()
const statementNameGenerator = ({ sql }) => names.get(sql) ?? names.set(sql, `s${names.size}`).get(sql)
const prisma = new PrismaClient({
  adapter: new PrismaPg(connection, { statementNameGenerator }),
  // Writes wait for one another; by default a transaction gives up after 2 s.
  transactionOptions: { maxWait: 10_000, timeout: 10_000 },
})
const { keys, issuer, audience } = developmentIssuer(await developmentKey(DATA_DIR))

const verified = new Map()
async function callerOf(authorization = '') {
  const token = authorization.slice('Bearer '.length)
  let known = verified.get(token)
  if (!known) {
    const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms: ['ES256'], typ: 'at+jwt' })
    const { sub: member, organisation: club, client_id: app, exp } = payload
    known = { member, club, app, expires: exp * 1000 }
    verified.set(token, known)
  }
  if (known.expires <= Date.now()) throw new Error('expired')
  return known
}

const app = Fastify()
app.decorateRequest('caller', null)
app.addHook('onRequest', async (request, reply) => {
  try {
    request.caller = await callerOf(request.headers.authorization)
  } catch {
    await reply.code(401).send({ detail: 'The access token is not valid.' })
  }
})
app.register(storageRoutes(prisma), { prefix: '/v1/storage' })
app.register(memberRoutes(prisma), { prefix: '/v1/me' })
app.register(quizRoute(prisma), { prefix: '/v1/quizzes' })
await app.listen({ port: Number(PORT) })
