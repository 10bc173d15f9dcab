import { createServer } from 'node:http'
import express from 'express'
import openid from 'express-openid-connect'
import { CLIENT_ID, CLIENT_SECRET, ISSUER, readMember } from './member.mjs'

const { PORT, RESPONSE_TYPE = 'code' } = process.env
const app = express()
app.use(
  openid.auth({
    issuerBaseURL: ISSUER,
    baseURL: `http://localhost:${PORT}`,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    secret: 'a long random text that signs the session of this app',
    // Its default is `id_token` in a form, without a code.
    authorizationParams: { response_type: RESPONSE_TYPE, scope: 'openid profile email svc.me.profile:read' },
    idpLogout: true,
  }),
)
app.get('/', async (req, res) => {
  const { access_token } = await req.oidc.accessToken.refresh()
  const { name } = await req.oidc.fetchUserInfo()
  res.json({ member: await readMember(access_token), sub: req.oidc.user.sub, name })
})
createServer(app).listen(PORT, '127.0.0.1', () => process.stdout.write('ready\n'))
