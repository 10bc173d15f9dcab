// The bench's operations hand-written with Fastify and Prisma: schemas for every answer, tokens that are verified once, Prisma on
// pg. No rate limit, no request ids, no consents: less than the service does.
import { PrismaPg } from '@prisma/adapter-pg'
import Fastify from 'fastify'
import { PrismaClient } from '../../prisma/generated/client.ts'
import { verifiedTenant } from '../servers/token.ts'
import { memberRoutes } from './fastify-member.mjs'
import { quizRoute } from './fastify-quiz.mjs'
import { storageRoutes } from './fastify-storage.mjs'

const { DATABASE_URL, PORT } = process.env
const connection = { connectionString: DATABASE_URL, max: 10, options: '-c timezone=UTC' }
// Named statements are planned once.
const names = new Map()
const statementNameGenerator = ({ sql }) => names.get(sql) ?? names.set(sql, `s${names.size}`).get(sql)
const prisma = new PrismaClient({
  adapter: new PrismaPg(connection, { statementNameGenerator }),
  // Writers wait for one another; by default a transaction gives up after 2 s.
  transactionOptions: { maxWait: 10_000, timeout: 10_000 },
})
const app = Fastify()
app.decorateRequest('caller', null)
app.addHook('onRequest', async (request, reply) => {
  try {
    request.caller = await verifiedTenant(request.headers.authorization)
  } catch {
    await reply.code(401).send({ detail: 'The access token is not valid.' })
  }
})
app.register(storageRoutes(prisma), { prefix: '/v1/storage' })
app.register(memberRoutes(prisma), { prefix: '/v1/me' })
app.register(quizRoute(prisma), { prefix: '/v1/quizzes' })
await app.listen({ port: Number(PORT) })
