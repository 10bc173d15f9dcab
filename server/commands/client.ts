import { parseArgs } from 'node:util'
import type { Database } from '../../prisma/client.ts'
import { clientWithConsents, listClients, register, registerFirstParty, removeClient } from '../admin/clients.ts'
import type { Registration } from '../admin/registration.ts'
import { readEnvironment } from '../process/config.ts'
import { openStore } from '../process/store.ts'
import { confirm, refuseUnasked } from './confirm.ts'
import { table } from './table.ts'

const usage = `  npm run -s client -- add --id ID --name NAME --team TEAM [--team-name NAME --level hobby|developer]
      [--app APP] [--app-name NAME --provider PROVIDER] --redirect URI [--redirect URI ...] --scope "a b"
      [--type web|native] [--environment production|sandbox] [--replace]
  npm run -s client -- add --first-party --id ID --name NAME [--replace]
  npm run -s client -- list [--team TEAM]
  npm run -s client -- remove --id ID [--yes]`

const text = { type: 'string' } as const
const flag = { type: 'boolean' } as const
const options = {
  id: text,
  'first-party': flag,
  name: text,
  team: text,
  'team-name': text,
  level: text,
  app: text,
  'app-name': text,
  provider: text,
  redirect: { type: 'string', multiple: true },
  scope: text,
  type: text,
  environment: text,
  replace: flag,
  yes: flag,
} as const

/** What each action takes; another's option would be ignored, and its user surprised. */
const taken = {
  add: Object.keys(options).filter((name) => name !== 'yes'),
  list: ['team'],
  remove: ['id', 'yes'],
}

type Values = ReturnType<typeof readArguments>['values']

/** Registers apps and their clients, shows them, removes them. */
async function main() {
  const { action, values } = readArguments()
  const config = readEnvironment()
  const act = actions[action](values, !config.production)
  const { db, close } = await openStore(config, () => {})
  await act(db).finally(close)
}

function readArguments() {
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  const [action, ...more] = positionals
  if (!action || !Object.hasOwn(taken, action) || more.length > 0) {
    throw new Error(`What to do is one word, add, list or remove:\n${usage}`)
  }
  const known = action as keyof typeof taken
  const other = Object.keys(values).find((name) => !taken[known].includes(name))
  if (other) throw new Error(`--${other} is not for ${known}:\n${usage}`)
  // As an unset variable of a script leaves it.
  const empty = Object.entries(values).find(([, value]) => value === '')
  if (empty) throw new Error(`--${empty[0]} is empty:\n${usage}`)
  return { action: known, values }
}

/** Each reads its options first, before there is a database. */
const actions = {
  add(values: Values, development: boolean) {
    if (values['first-party']) return addFirstParty(values)
    const wish = registrationOf(values)
    return async (db: Database) => {
      const done = await register(db, wish, { replace: values.replace === true, development })
      process.stdout.write(`The client ${wish.id} is ${done}.\n`)
    }
  },

  list: (values: Values) => async (db: Database) => {
    const rows = await listClients(db, values.team)
    const heads = ['ID', 'APP', 'TEAM', 'LEVEL', 'TYPE', 'ENVIRONMENT', 'SCOPES', 'REDIRECTS'].map((head) => [head])
    const cells = rows.map(({ id, appId, teamId, team, type, environment, scopes, redirectUris }) => [
      ...[id, appId ?? '-', teamId ?? '-', team?.level ?? 'first-party', type, environment].map((cell) => [cell]),
      scopes,
      redirectUris,
    ])
    process.stdout.write(table([heads, ...cells]))
  },

  remove(values: Values) {
    const { id, yes = false } = values
    if (!id) throw new Error(`--id is needed:\n${usage}`)
    refuseUnasked(yes)
    return async (db: Database) => {
      const client = await clientWithConsents(db, id)
      if (!client) throw new Error(`There is no client ${id}.`)
      const stays = client.appId === null ? '' : ` The app ${client.appId} and what it has stored stay.`
      process.stdout.write(
        `To be removed: the client ${id}, and ${consents(client._count.consents)}.\n` +
          `Its tokens are refused within 5 s.${stays}\n`,
      )
      await confirm(id, yes)
      const gone = await removeClient(db, id)
      if (gone === null) throw new Error(`There is no client ${id}.`)
      process.stdout.write(`Removed: ${id}, ${consents(gone)}\n`)
    }
  },
}

/** A client of the platform itself, whatever a team's client has beside its id and name. */
function addFirstParty({ id, name, replace = false, 'first-party': _asked, ...rest }: Values) {
  const [other] = Object.keys(rest)
  if (other) throw new Error(`--${other} is not for clients of the platform:\n${usage}`)
  if (!id || !name) throw new Error(`--id and --name are needed:\n${usage}`)
  return async (db: Database) => {
    const done = await registerFirstParty(db, { id, name }, replace)
    process.stdout.write(`The client ${id} is ${done}.\n`)
  }
}

const consents = (count: number) => (count === 1 ? '1 consent' : `${count} consents`)

function registrationOf(values: Values): Registration {
  const {
    id,
    name,
    team,
    redirect = [],
    scope,
    app,
    provider,
    level,
    type = 'web',
    environment = 'production',
  } = values
  if (!id || !name || !team || redirect.length === 0 || !scope) {
    throw new Error(`--id, --name, --team, --redirect and --scope are needed:\n${usage}`)
  }
  if (app === undefined && (values['app-name'] !== undefined || provider !== undefined)) {
    throw new Error(`--app-name and --provider are of an app, which --app names:\n${usage}`)
  }
  return {
    ...{ id, name, redirectUris: redirect, scopes: scope.split(' ').filter(Boolean) },
    type: oneOf('type', type, ['web', 'native']),
    environment: oneOf('environment', environment, ['production', 'sandbox']),
    team: {
      id: team,
      name: values['team-name'],
      level: level === undefined ? undefined : oneOf('level', level, ['hobby', 'developer']),
    },
    app: app === undefined ? null : { id: app, name: values['app-name'], provider },
  }
}

function oneOf<const T extends string>(name: string, value: string, of: readonly T[]): T {
  const found = of.find((one) => one === value)
  if (!found) throw new Error(`--${name} is ${of.join(' or ')}:\n${usage}`)
  return found
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`)
  process.exitCode = 1
}
