import { decodeJwt } from 'jose'
import { memberScopes } from '../../../routers/kernel/scopes.ts'
import { readSettings } from '../../process/command-settings.ts'
import { developmentKey, mintToken } from '../../tokens/development.ts'
import type { Command } from '../line/command.ts'
import { action, UsageError } from '../line/command.ts'

const mint = action(
  {
    declare: (line) =>
      line
        .option('--member <MEMBER>', 'the member; without one, the token is of the client itself')
        .requiredOption('--club <CLUB>', 'the club; for lms an academy, for notify a provider')
        .requiredOption('--client <CLIENT>', 'the client')
        .option('--scope <"a b">', 'the scopes, by default all of members', String)
        .option('--expires-in <SECONDS>', 'how long it is valid, by default 3600'),
    async run({ member = null, club, client, scope = memberScopes.join(' '), expiresIn = '3600' }, io) {
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
      if (!/^-?\d{1,10}$/.test(expiresIn)) throw new UsageError('--expires-in must be a number of seconds.')
      const token = await mintToken(await developmentKey(dataDir), {
        member,
        organisation: club,
        client,
        scope,
        expiresInSeconds: Number(expiresIn),
      })
      return { token, expiresAt: new Date(decodeJwt(token).exp! * 1000) }
    },
  },
  { json: '{ token, expiresAt }', text: ({ token }) => `${token}\n` },
)

export const command: Command = {
  about: 'Prints an access token for development. The service checks whether the names exist.',
  actions: { '': mint },
  examples: [
    'token --member anna --club riverside --client trainer-app',
    'token --member anna --club riverside --client trainer-app --scope svc.me.profile:read --expires-in 60',
    'token --client platform --club academy --scope lms.reviews:write --json',
  ],
}
