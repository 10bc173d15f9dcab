import { parseArgs } from 'node:util'
import { memberScopes } from '../../routers/scopes.ts'
import { readEnvironment } from '../process/config.ts'
import { developmentKey, mintToken } from '../tokens/development.ts'

const usage =
  'npm run -s token -- [--member anna] --club riverside --client trainer-app [--scope "a b"] [--expires-in 3600]'

/** Prints one access token, and nothing else. Names are taken as they are: whether they exist, the service says. */
async function main() {
  const { dataDir, tokenIssuer } = readEnvironment()
  if (tokenIssuer !== undefined) {
    throw new Error(`TOKEN_ISSUER is set: ${tokenIssuer} issues the tokens, and the service refuses our own.`)
  }
  const { values } = parseArgs({
    options: {
      member: { type: 'string' },
      club: { type: 'string' },
      client: { type: 'string' },
      scope: { type: 'string' },
      'expires-in': { type: 'string' },
    },
  })
  const { member, club, client, scope = memberScopes.join(' '), 'expires-in': expiresIn = '3600' } = values
  // Without a member it is a first-party client's; given and empty, a variable of a script was not set.
  if (member === '' || !club || !client) {
    throw new Error(`--club and --client are needed, and --member but for first-party clients:\n  ${usage}`)
  }
  if (!/^-?\d{1,10}$/.test(expiresIn)) throw new Error(`--expires-in is a number of seconds:\n  ${usage}`)
  const expiresInSeconds = Number(expiresIn)
  const key = await developmentKey(dataDir)
  return mintToken(key, { member: member ?? null, organisation: club, client, scope, expiresInSeconds })
}

try {
  process.stdout.write(`${await main()}\n`)
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
