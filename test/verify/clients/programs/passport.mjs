// An app that signs members in with Passport.
import express from 'express'
import session from 'express-session'
import passport from 'passport'
import { Strategy } from './strategy.mjs'

const { PORT, ISSUER, CLIENT_ID, CLIENT_SECRET } = process.env

const strategy = new Strategy(
  {
    issuer: ISSUER,
    authorizationURL: `${ISSUER}/authorize`,
    tokenURL: `${ISSUER}/token`,
    userInfoURL: `${ISSUER}/userinfo`,
    clientID: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    callbackURL: `http://localhost:${PORT}/callback`,
    scope: ['profile', 'email'],
    nonce: true,
    maxAge: '600',
    skipUserProfile: false,
  },
  (_issuer, profile, _context, _idToken, _accessToken, _refreshToken, verified) => verified(null, profile),
)

const app = express()
app.use(session({ secret: 'of the cookie', resave: false, saveUninitialized: true }))
app.use(passport.initialize())
passport.use(strategy)
app.get('/login', passport.authenticate('openidconnect', { session: false }))
app.get('/callback', passport.authenticate('openidconnect', { session: false }), (req, res) => {
  const { id, displayName, emails } = req.user
  res.json({ id, displayName, emails })
})
app.use((error, _req, res, _next) =>
  res.status(502).json({ name: error.name, code: error.code, message: error.message }),
)
app.listen(Number(PORT), '127.0.0.1', () => process.stdout.write('ready\n'))
