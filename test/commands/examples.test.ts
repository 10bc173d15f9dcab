import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { CommandName } from '../../server/commands/program/run-command.ts'
import { commandNames, loadCommand } from '../../server/commands/program/run-command.ts'
import { SECRETS_KEY } from '../support/secrets-key.ts'
import { readExamples } from './documented-examples.ts'
import { filledDatabase } from './filled-database.ts'
import { clubs, ndjson, person } from './import-world.ts'
import { run } from './run.ts'

/** They run until a signal; test/verify/install starts the first two as they are written. */
const endless: CommandName[] = ['start', 'worker', 'studio']

/** Their documents are compared in json.test.ts and member.test.ts, with ids that no help can know. */
const withIds = [
  'team requests',
  'team approve',
  'team refuse',
  'client requests',
  'client approve',
  'client refuse',
  'member requests',
  'keys revoke',
]

describe('the examples of the help', () => {
  const env = filledDatabase()

  it('are 2 to 4 for each command that has something to choose', async () => {
    for (const name of commandNames) {
      const examples = await readExamples(name)
      expect([name, examples.length]).toEqual([name, name === 'worker' ? 1 : expect.toSatisfy((n) => n >= 2 && n <= 4)])
      for (const [first] of examples) expect(first).toBe(name)
    }
  })

  it('succeed in their order on the demo data', async () => {
    const example = await place(env)
    for (const name of commandNames.filter((name) => !endless.includes(name))) {
      for (const args of await readExamples(name)) {
        const { code, stderr } = await example(args)
        expect([args, code, code === 0 ? '' : stderr]).toEqual([args, 0, ''])
      }
    }
  })

  it('print, with --json, one document with the documented fields', async () => {
    const example = await place(env)
    const [compared, all] = [new Set<string>(), new Set<string>()]
    for (const name of commandNames) {
      const { actions } = await loadCommand(name)
      for (const [action, { json }] of Object.entries(actions)) if (json) all.add(`${name} ${action}`.trim())
      if (endless.includes(name)) continue
      for (const args of await readExamples(name)) {
        const { json } = actions[args[1] ?? ''] ?? actions['']!
        if (!json) continue
        const { code, stdout, stderr } = await example(args.includes('--json') ? args : [...args, '--json'])
        expect([args, code, code === 0 ? '' : stderr]).toEqual([args, 0, ''])
        const document = JSON.parse(stdout)
        // The export is a document itself.
        if (name === 'member' && !args.includes('--out') && args.includes('export')) continue
        const [first] = [document].flat()
        if (first === undefined) continue
        const keys = Object.keys(first).join(', ')
        expect([args, Array.isArray(document) ? `[{ ${keys} }]` : `{ ${keys} }`]).toEqual([args, json])
        compared.add(actions[args[1]!] ? `${name} ${args[1]}` : name)
      }
    }
    expect([...all].filter((name) => !compared.has(name))).toEqual(withIds)
  })
})

/** Files and a receiver as the examples name them. Runs one with the names of this test's own in place of those. */
async function place(env: { DATABASE_URL: string }) {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-examples-'))
  const receiver = createServer((request, response) => {
    request.resume()
    response.writeHead(request.headers['x-webhook-secret'] === 'S' ? 204 : 401).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  onTestFinished(async () => {
    receiver.close()
    await rm(directory, { recursive: true })
  })
  const { port } = receiver.address() as AddressInfo
  await writeFile(join(directory, 'organisations.ndjson'), clubs)
  await writeFile(join(directory, 'people.ndjson'), ndjson(person('anna')))
  const settings = { ...env, DATA_DIR: directory, SECRETS_KEY }
  const own = (word: string) =>
    /^[\w-]+\.(?:json|ndjson|log)$/.test(word)
      ? join(directory, word)
      : word.replace('http://127.0.0.1:4000/', `http://127.0.0.1:${port}/`)
  return (args: readonly string[]) => run(args.map(own), settings)
}
