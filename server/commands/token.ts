import { memberScopes } from '../../routers/kernel/scopes.ts'
import { readSettings } from '../process/command-settings.ts'
import { developmentKey, mintToken } from '../tokens/development.ts'
import { parseOptions, text } from './arguments.ts'
import { command, UsageError } from './command.ts'

const usage = `Usage:
  npm run -s token -- --member anna --club riverside --client trainer-app [--scope "a b"] [--expires-in 3600]

Prints an access token, by default with every scope and for an hour. Without --member: for a first-party client. The
service checks whether the names exist.
`

export const run = command(usage, async (argv, io) => {
  const { dataDir, tokenIssuer, developmentTokens } = readSettings(
    io.env,
    'dataDir',
    'tokenIssuer',
    'developmentTokens',
  )
  if (tokenIssuer !== undefined) {
    throw new Error(`TOKEN_ISSUER is set: ${tokenIssuer} issues the tokens, and the service refuses its own.`)
  }
  if (!developmentTokens) {
    throw new Error('The service refuses development tokens here: it accepts them with DEVELOPMENT_TOKENS=true.')
  }
  const options = { member: text, club: text, client: text, scope: text, 'expires-in': text } as const
  const values = parseOptions(argv, options, ['scope'])
  const { member = null, club, client, scope = memberScopes.join(' '), 'expires-in': expiresIn = '3600' } = values
  if (!club || !client) {
    throw new UsageError('--club and --client are required, and --member unless it is a first-party client.')
  }
  if (!/^-?\d{1,10}$/.test(expiresIn)) throw new UsageError('--expires-in must be a number of seconds.')
  const token = await mintToken(await developmentKey(dataDir), {
    ...{ member, organisation: club, client, scope },
    expiresInSeconds: Number(expiresIn),
  })
  io.stdout.write(`${token}\n`)
})
