import { createServer } from 'node:http'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { toNodeHandler } from 'better-auth/node'
import { genericOAuth } from 'better-auth/plugins'

const { PORT, ISSUER, CLIENT_ID, CLIENT_SECRET } = process.env
const auth = betterAuth({
  baseURL: `http://localhost:${PORT}`,
  secret: 'a long random text that signs the session of this app',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
  plugins: [
    genericOAuth({
      config: [
        {
          providerId: 'club',
          discoveryUrl: `${ISSUER}/.well-known/openid-configuration`,
          clientId: CLIENT_ID,
          clientSecret: CLIENT_SECRET,
          scopes: ['openid', 'profile', 'email', 'svc.me.profile:read'],
        },
      ],
    }),
  ],
})
const handle = toNodeHandler(auth)
createServer((req, res) => (req.url === '/' ? res.end('home') : handle(req, res))).listen(PORT, '127.0.0.1', () =>
  process.stdout.write('ready\n'),
)
