import { Option } from '@commander-js/extra-typings'
import { isDocumentAddress } from '../../../routers/developer/shared/document-address.ts'
import type { Registration } from '../../../routers/developer/shared/registration.ts'
import { clientWithConsents, listClients, register, removeClient } from '../../admin/clients.ts'
import { readSettings } from '../../process/command-settings.ts'
import type { Command, Io, Line } from '../line/command.ts'
import { action, log, UsageError, yes } from '../line/command.ts'
import { confirm, requireConfirmation } from '../line/confirmation.ts'
import { withDatabase } from '../line/database.ts'
import { table } from '../line/table.ts'
import { openRemovalLog } from '../removals/removal-log.ts'
import type { Added } from './first-party.ts'
import { addedText, addFirstParty } from './first-party.ts'
import { approve, refuse, requests } from './review.ts'

const id = ['--id <ID>', 'the id of the client'] as const

const team = ['--team <TEAM>', 'the id of a team'] as const

/** The options for clients of teams alone, by the names of their values. */
const OF_TEAMS =
  'team teamName level app appName provider redirect postLogoutRedirect idTokenAlgorithm devices type environment'.split(
    ' ',
  )

const addOptions = (line: Line) =>
  line
    .requiredOption(...id)
    .requiredOption('--name <NAME>', 'its name, which members read')
    .requiredOption('--scope <"a b">', 'its scopes')
    .option(...team)
    .option('--team-name <NAME>', 'adds the team')
    .addOption(new Option('--level <LEVEL>', 'the level of the added team').choices(['hobby', 'developer']))
    .option('--app <APP>', 'the id of an app; a client without one has no storage')
    .option('--app-name <NAME>', 'adds the app')
    .option('--provider <PROVIDER>', 'the provider of the added app')
    .option('--redirect <URI...>', 'a redirect URI')
    .option('--post-logout-redirect <URI...>', 'where a sign-out may return to, at the host of a redirect URI')
    .addOption(new Option('--id-token-algorithm <ALGORITHM>', 'the signature of ID tokens').choices(['RS256', 'ES256']))
    .option('--devices', 'signs in on devices without a browser; then it needs no redirect URI')
    .addOption(new Option('--type <TYPE>', 'native for phone and desktop apps').choices(['web', 'native']))
    .addOption(
      new Option('--environment <ENVIRONMENT>', "sandbox for the team's test club").choices(['production', 'sandbox']),
    )
    .addOption(
      new Option('--first-party', 'adds a client of the platform, without team, app and redirect URIs').conflicts(
        OF_TEAMS,
      ),
    )
    .option('--jwks <FILE>', 'with --first-party: its public keys, in place of a secret')
    .option('--replace', 'changes an existing client')
    .option(...log)

type AddValues = ReturnType<ReturnType<typeof addOptions>['opts']>

const add = action(
  {
    about: 'registers a client with its team and app, or a first-party client',
    declare: addOptions,
    run: (values, io): Promise<Added> => (values.firstParty ? addFirstParty(values, io) : addOfTeam(values, io)),
  },
  { json: '{ id, done, scopes, secret, tokenEndpoint, organisation }', text: addedText },
)

async function addOfTeam(values: AddValues, io: Io) {
  const registration = toRegistration(values)
  const development = !readSettings(io.env, 'production').production
  const done = await withDatabase(io, (db) =>
    register(db, registration, { replace: values.replace === true, development }),
  )
  const { id, scopes } = registration
  return { id, done, scopes: [...scopes], secret: null, tokenEndpoint: null, organisation: null }
}

const list = action(
  {
    about: 'lists the clients, or those of a team',
    declare: (line) => line.option(...team),
    async run({ team }, io) {
      const clients = await withDatabase(io, (db) => listClients(db, team))
      return clients.map(
        ({ id, name, appId, teamId, team, type, environment, state, scopes, redirectUris, devices }) => ({
          id,
          name,
          app: appId,
          team: teamId,
          level: team?.level ?? null,
          type,
          environment,
          state,
          scopes,
          redirectUris,
          devices,
        }),
      )
    },
  },
  {
    json: '[{ id, name, app, team, level, type, environment, state, scopes, redirectUris, devices }]',
    text: (clients) =>
      table([
        ['ID', 'APP', 'TEAM', 'LEVEL', 'TYPE', 'ENVIRONMENT', 'SCOPES', 'REDIRECTS'].map((head) => [head]),
        ...clients.map(({ id, app, team, level, type, environment, scopes, redirectUris }) => [
          ...[id, app ?? '-', team ?? '-', level ?? 'first-party', type, environment].map((cell) => [cell]),
          scopes,
          redirectUris,
        ]),
      ]),
  },
)

const remove = action(
  {
    about: 'removes a client, and ends its consents',
    declare: (line) =>
      line
        .requiredOption(...id)
        .option(...yes)
        .option(...log),
    async run({ id, yes, log: path }, io) {
      const confirmation = { ...io, yes }
      requireConfirmation(confirmation)
      const log = await openRemovalLog(io, path)
      const removed = withDatabase(io, async (db) => {
        const client = await clientWithConsents(db, id)
        if (!client) throw new Error(`Client ${id} does not exist.`)
        const kept = client.appId === null ? '' : ` The app ${client.appId} and its stored entries stay.`
        const more = isDocumentAddress(id) ? ' The app is suspended, for all documents of its host.' : ''
        const list =
          `To be removed: the client ${id}, and ${formatConsentCount(client._count.consents)}.\n` +
          `Its tokens are refused within 5 s.${kept}${more}\n`
        await confirm(id, list, confirmation)
        const consents = await removeClient(db, id)
        if (consents === null) throw new Error(`Client ${id} does not exist.`)
        await log.write({ repeat: 'client.remove', client: id })
        return { id, consents }
      })
      return removed.finally(log.close)
    },
  },
  { json: '{ id, consents }', text: ({ id, consents }) => `Removed: ${id}, ${formatConsentCount(consents)}\n` },
)

const formatConsentCount = (count: number) => (count === 1 ? '1 consent' : `${count} consents`)

function toRegistration(values: AddValues): Registration {
  const { id, name, team, redirect = [], scope, app, provider, level } = values
  const devices = values.devices === true
  if (!team || (redirect.length === 0 && !devices)) {
    throw new UsageError(
      '--id, --name, --team, --redirect and --scope are required; with --devices, --redirect is not.',
    )
  }
  if (values.jwks !== undefined) throw new UsageError('--jwks is an option of first-party clients.')
  if (values.log !== undefined) throw new UsageError('--log is an option of first-party clients.')
  if (app === undefined && (values.appName !== undefined || provider !== undefined)) {
    throw new UsageError('--app-name and --provider describe an app: --app is required.')
  }
  return {
    postLogoutRedirectUris: values.postLogoutRedirect,
    idTokenAlgorithm: values.idTokenAlgorithm,
    id,
    name,
    redirectUris: redirect,
    devices,
    scopes: scope.split(' ').filter(Boolean),
    type: values.type ?? 'web',
    environment: values.environment ?? 'production',
    team: { id: team, name: values.teamName, level },
    app: app === undefined ? null : { id: app, name: values.appName, provider },
  }
}

export const command: Command = {
  about: 'An existing id is refused without --replace. What a team has asked for is approved or refused.',
  actions: { add, list, remove, requests, approve, refuse },
  examples: [
    'client add --id planner-web --name Planner --team planners --team-name "Planners Ltd" --level hobby \\\n' +
      '      --app planner --app-name Planner --provider provider --redirect https://planner.example.org/ \\\n' +
      '      --scope svc.me.profile:read',
    'client add --first-party --id billing --name Billing --scope lms.reviews:write --json',
    'client list --team planners',
    'client remove --id planner-web --yes',
  ],
}
