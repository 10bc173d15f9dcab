import type { Registration } from '../../../routers/developer/shared/registration.ts'
import { clientWithConsents, listClients, register, removeClient } from '../../admin/clients.ts'
import { readSettings } from '../../process/command-settings.ts'
import type { Command, Io } from '../line/command.ts'
import { action, UsageError } from '../line/command.ts'
import { confirm, requireConfirmation } from '../line/confirmation.ts'
import { withDatabase } from '../line/database.ts'
import type { Values } from '../line/option.ts'
import { choice, flag, log, path, required, text, texts, yes } from '../line/option.ts'
import { table } from '../line/table.ts'
import { openRemovalLog } from '../removals/removal-log.ts'
import type { Added } from './first-party.ts'
import { addedText, addFirstParty } from './first-party.ts'
import { approve, refuse, requests } from './review.ts'

const id = required(text('ID', 'the id of the client'))

const team = text('TEAM', 'the id of a team')

const addOptions = {
  id,
  name: required(text('NAME', 'its name, which members read')),
  scope: required(text('"a b"', 'its scopes')),
  team,
  'team-name': text('NAME', 'adds the team'),
  level: choice(['hobby', 'developer'], 'the level of the added team'),
  app: text('APP', 'the id of an app; a client without one has no storage'),
  'app-name': text('NAME', 'adds the app'),
  provider: text('PROVIDER', 'the provider of the added app'),
  redirect: texts('URI', 'a redirect URI'),
  'post-logout-redirect': texts('URI', 'where a sign-out may return to, at the host of a redirect URI'),
  'id-token-algorithm': choice(['RS256', 'ES256'], 'the signature of ID tokens'),
  devices: flag('signs in on devices without a browser; then it needs no redirect URI'),
  type: choice(['web', 'native'], 'native for phone and desktop apps'),
  environment: choice(['production', 'sandbox'], "sandbox for the team's test club"),
  'first-party': flag('adds a client of the platform, without team, app and redirect URIs'),
  jwks: path('FILE', 'with --first-party: its public keys, in place of a secret'),
  replace: flag('changes an existing client'),
  log,
} as const

const add = action(
  {
    about: 'registers a client with its team and app, or a first-party client',
    options: addOptions,
    run: (values, io): Promise<Added> => (values['first-party'] ? addOfPlatform(values, io) : addOfTeam(values, io)),
  },
  { json: '{ id, done, scopes, secret, tokenEndpoint, organisation }', text: addedText },
)

async function addOfTeam(values: Values<typeof addOptions>, io: Io) {
  const registration = registrationOf(values)
  const development = !readSettings(io.env, 'production').production
  const done = await withDatabase(io, (db) =>
    register(db, registration, { replace: values.replace === true, development }),
  )
  const { id, scopes } = registration
  return { id, done, scopes: [...scopes], secret: null, tokenEndpoint: null, organisation: null }
}

function addOfPlatform(values: Values<typeof addOptions>, io: Io) {
  const { id, name, scope, jwks, replace, log, 'first-party': _firstParty, ...rest } = values
  const [other] = Object.keys(rest)
  if (other) throw new UsageError(`--${other} is not an option of first-party clients.`)
  return addFirstParty({ id, name, scope, jwks, replace, log }, io)
}

const list = action(
  {
    about: 'lists the clients, or those of a team',
    options: { team },
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
    options: { id, yes, log },
    async run({ id, yes, log: path }, io) {
      const confirmation = { ...io, yes }
      requireConfirmation(confirmation)
      const log = await openRemovalLog(io, path)
      const removed = withDatabase(io, async (db) => {
        const client = await clientWithConsents(db, id)
        if (!client) throw new Error(`Client ${id} does not exist.`)
        const kept = client.appId === null ? '' : ` The app ${client.appId} and its stored entries stay.`
        io.stdout.write(
          `To be removed: the client ${id}, and ${consentsOf(client._count.consents)}.\n` +
            `Its tokens are refused within 5 s.${kept}\n`,
        )
        await confirm(id, confirmation)
        const consents = await removeClient(db, id)
        if (consents === null) throw new Error(`Client ${id} does not exist.`)
        await log.write({ repeat: 'client.remove', client: id })
        return { id, consents }
      })
      return removed.finally(log.close)
    },
  },
  { json: '{ id, consents }', text: ({ id, consents }) => `Removed: ${id}, ${consentsOf(consents)}\n` },
)

const consentsOf = (count: number) => (count === 1 ? '1 consent' : `${count} consents`)

function registrationOf(values: Values<typeof addOptions>): Registration {
  const { id, name, team, redirect = [], scope, app, provider, level } = values
  const devices = values.devices === true
  if (!team || (redirect.length === 0 && !devices)) {
    throw new UsageError(
      '--id, --name, --team, --redirect and --scope are required; with --devices, --redirect is not.',
    )
  }
  if (values.jwks !== undefined) throw new UsageError('--jwks is an option of first-party clients.')
  if (values.log !== undefined) throw new UsageError('--log is an option of first-party clients.')
  if (app === undefined && (values['app-name'] !== undefined || provider !== undefined)) {
    throw new UsageError('--app-name and --provider describe an app: --app is required.')
  }
  return {
    postLogoutRedirectUris: values['post-logout-redirect'],
    idTokenAlgorithm: values['id-token-algorithm'],
    id,
    name,
    redirectUris: redirect,
    devices,
    scopes: scope.split(' ').filter(Boolean),
    type: values.type ?? 'web',
    environment: values.environment ?? 'production',
    team: { id: team, name: values['team-name'], level },
    app: app === undefined ? null : { id: app, name: values['app-name'], provider },
  }
}

export const command: Command = {
  about: 'An existing id is refused without --replace. What a team has asked for is approved or refused.',
  actions: { add, list, remove, requests, approve, refuse },
  examples: [
    'client add --id planner-web --name Planner --team planners --team-name "Planners Ltd" --level hobby --app planner ' +
      '--app-name Planner --provider provider --redirect https://planner.example.org/ --scope svc.me.profile:read',
    'client add --first-party --id billing --name Billing --scope lms.reviews:write --json',
    'client list --team planners',
    'client remove --id planner-web --yes',
  ],
}
