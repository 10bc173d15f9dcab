import type { Registration } from '../../routers/clients/registration.ts'
import { clientWithConsents, listClients, register, removeClient } from '../admin/clients.ts'
import { readSettings } from '../process/command-settings.ts'
import type { Values } from './arguments.ts'
import { flag, oneOf, parseAction, text, texts } from './arguments.ts'
import { decide, printRequests, reviewActions } from './client-review.ts'
import type { Io } from './command.ts'
import { command, UsageError } from './command.ts'
import { confirm, requireConfirmation } from './confirmation.ts'
import { withDatabase } from './database.ts'
import { addFirstParty } from './first-party-client.ts'
import { openRemovalLog } from './removal-log.ts'
import { table } from './table.ts'

const usage = `Usage:
  npm run -s client -- add --id ID --name NAME --team TEAM [--team-name NAME --level hobby|developer]
      [--app APP] [--app-name NAME --provider PROVIDER] --redirect URI [--redirect URI ...] --scope "a b"
      [--type web|native] [--environment production|sandbox] [--replace]
  npm run -s client -- add --first-party --id ID --name NAME --scope "a b" [--jwks FILE]
      [--replace [--log FILE]]
  npm run -s client -- list [--team TEAM]
  npm run -s client -- remove --id ID [--yes] [--log FILE]
  npm run -s client -- requests
  npm run -s client -- approve --id ID --version N --app-version N
  npm run -s client -- approve --app APP --version N
  npm run -s client -- refuse --id ID|--app APP [--version N] --reason TEXT
`

const actions = {
  add: {
    ...{ id: text, name: text, team: text, 'team-name': text, level: text },
    ...{ app: text, 'app-name': text, provider: text, redirect: texts, scope: text, jwks: text },
    ...{ type: text, environment: text, replace: flag, 'first-party': flag, log: text },
  },
  list: { team: text },
  remove: { id: text, yes: flag, log: text },
  ...reviewActions,
} as const

export const run = command(usage, async (argv, io) => {
  const { action, values } = parseAction(argv, actions)
  if (action === 'list') await list(values.team, io)
  else if (action === 'remove') await remove(values, io)
  else if (action === 'requests') await printRequests(io)
  else if (action === 'approve' || action === 'refuse') await decide(action, values, io)
  else if (values['first-party']) await addOfPlatform(values, io)
  else await add(values, io)
})

async function add(values: Values<typeof actions.add>, io: Io) {
  const registration = registrationOf(values)
  const development = !readSettings(io.env, 'production').production
  const done = await withDatabase(io, (db) =>
    register(db, registration, { replace: values.replace === true, development }),
  )
  io.stdout.write(`The client ${registration.id} was ${done}.\n`)
}

async function addOfPlatform(values: Values<typeof actions.add>, io: Io) {
  const { id, name, scope, jwks, replace, log, 'first-party': _firstParty, ...rest } = values
  const [other] = Object.keys(rest)
  if (other) throw new UsageError(`--${other} is not an option of first-party clients.`)
  await addFirstParty({ id, name, scope, jwks, replace, log }, io)
}

async function list(team: string | undefined, io: Io) {
  const clients = await withDatabase(io, (db) => listClients(db, team))
  const heads = ['ID', 'APP', 'TEAM', 'LEVEL', 'TYPE', 'ENVIRONMENT', 'SCOPES', 'REDIRECTS'].map((head) => [head])
  const rows = clients.map(({ id, appId, teamId, team, type, environment, scopes, redirectUris }) => [
    ...[id, appId ?? '-', teamId ?? '-', team?.level ?? 'first-party', type, environment].map((cell) => [cell]),
    scopes,
    redirectUris,
  ])
  io.stdout.write(table([heads, ...rows]))
}

async function remove({ id, yes, log: path }: Values<typeof actions.remove>, io: Io) {
  if (!id) throw new UsageError('--id is required.')
  const confirmation = { ...io, yes }
  requireConfirmation(confirmation)
  const log = await openRemovalLog(io, path)
  const removed = withDatabase(io, async (db) => {
    const client = await clientWithConsents(db, id)
    if (!client) throw new Error(`Client ${id} does not exist.`)
    const kept = client.appId === null ? '' : ` The app ${client.appId} and its stored entries stay.`
    io.stdout.write(
      `To be removed: the client ${id}, and ${consents(client._count.consents)}.\n` +
        `Its tokens are refused within 5 s.${kept}\n`,
    )
    await confirm(id, confirmation)
    const count = await removeClient(db, id)
    if (count === null) throw new Error(`Client ${id} does not exist.`)
    io.stdout.write(`Removed: ${id}, ${consents(count)}\n`)
    await log.write({ repeat: 'client.remove', client: id })
  })
  await removed.finally(log.close)
}

const consents = (count: number) => (count === 1 ? '1 consent' : `${count} consents`)

function registrationOf(values: Values<typeof actions.add>): Registration {
  const { id, name, team, redirect = [], scope, app, provider, level } = values
  if (!id || !name || !team || redirect.length === 0 || !scope) {
    throw new UsageError('--id, --name, --team, --redirect and --scope are required.')
  }
  if (values.jwks !== undefined) throw new UsageError('--jwks is an option of first-party clients.')
  if (values.log !== undefined) throw new UsageError('--log is an option of first-party clients.')
  if (app === undefined && (values['app-name'] !== undefined || provider !== undefined)) {
    throw new UsageError('--app-name and --provider describe an app: --app is required.')
  }
  return {
    ...{ id, name, redirectUris: redirect, scopes: scope.split(' ').filter(Boolean) },
    type: oneOf('type', values.type ?? 'web', ['web', 'native']),
    environment: oneOf('environment', values.environment ?? 'production', ['production', 'sandbox']),
    team: {
      id: team,
      name: values['team-name'],
      level: level === undefined ? undefined : oneOf('level', level, ['hobby', 'developer']),
    },
    app: app === undefined ? null : { id: app, name: values['app-name'], provider },
  }
}
