// An app that signs members in with Auth.js, as its guide for Express shows it.
import { ExpressAuth, getSession } from '@auth/express'
import express from 'express'

const { PORT, ISSUER, CLIENT_ID, CLIENT_SECRET } = process.env

const config = {
  secret: 'thirty-two characters or more of a secret',
  trustHost: true,
  providers: [
    {
      id: 'club',
      name: 'the club',
      type: 'oidc',
      issuer: ISSUER,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      checks: ['pkce', 'state', 'nonce'],
      idToken: false,
    },
  ],
  callbacks: {
    jwt: ({ token, account }) => (account ? { ...token, sub: account.providerAccountId } : token),
    session: ({ session, token }) => ({ ...session, sub: token.sub }),
  },
}

const app = express()
app.set('trust proxy', true)
app.use('/auth', ExpressAuth(config))
app.get('/', async (req, res) => {
  res.json(await getSession(req, config))
})
app.listen(Number(PORT), '127.0.0.1', () => process.stdout.write('ready\n'))
