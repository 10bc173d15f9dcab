import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, it } from 'vitest'
import { table } from '../support/markdown-table.ts'

/**
 * The layers, the rooms of routers/ and server/, and those of the three largest rooms, lowest first. A file belongs to the row with
 * the longest directory that it is in. It imports files of that directory and of those under `imports`, all of them above it, and
 * no `forbidden` package. `routers` are all rooms of routers/.
 */
const arrows = table<'directory' | 'imports' | 'forbidden'>(`
| directory       | imports                                     | forbidden                       |
|-----------------|---------------------------------------------|---------------------------------|
| examples        |                                             | koa @koa                        |
| prisma          |                                             | koa @koa node:http jose pino    |
| prisma/tools    | prisma                                      | koa @koa node:http jose pino    |
| routers/kernel  | prisma                                      | koa @koa node:http jose pino    |
| routers/me      | prisma routers/kernel                       | koa @koa node:http jose pino    |
| routers/calendar | prisma routers/kernel                      | koa @koa node:http jose pino    |
| routers/storage | prisma routers/kernel                       | koa @koa node:http jose pino    |
| routers/sync    | prisma routers/kernel routers/storage        | koa @koa node:http jose pino    |
| routers/quizzes | prisma routers/kernel                       | koa @koa node:http jose pino    |
| routers/webhooks | prisma routers/kernel                      | koa @koa node:http jose pino    |
| routers/personal-data | prisma routers/kernel routers/webhooks | koa @koa node:http jose pino    |
| routers/directory | prisma routers/kernel routers/webhooks routers/personal-data | koa @koa node:http jose pino  |
| routers/developer/shared | prisma routers/kernel | koa @koa node:http jose pino |
| routers/developer/access | prisma routers/kernel | koa @koa node:http jose pino |
| routers/developer/audit | prisma routers/kernel developer/shared developer/access | koa @koa node:http jose pino |
| routers/developer/mails | prisma routers/kernel | koa @koa node:http jose pino |
| routers/developer/reviews | prisma routers/kernel developer/shared developer/access developer/audit developer/mails | koa @koa node:http jose pino |
| routers/developer/pictures | prisma routers/kernel developer/shared | koa @koa node:http jose pino |
| routers/developer/webhook | prisma routers/kernel routers/webhooks developer/access developer/audit | koa @koa node:http jose pino |
| routers/developer/addresses | prisma routers/kernel routers/webhooks developer/access developer/audit developer/webhook | koa @koa node:http jose pino |
| routers/developer/deletion | prisma routers/kernel routers/storage developer/shared developer/access developer/audit | koa @koa node:http jose pino |
| routers/developer/secrets | prisma routers/kernel developer/shared developer/access developer/audit developer/mails | koa @koa node:http jose pino |
| routers/developer/activity | prisma routers/kernel routers/webhooks developer/shared developer/access developer/webhook | koa @koa node:http jose pino |
| routers/developer/data | prisma routers/kernel routers/storage developer/shared developer/access developer/audit | koa @koa node:http jose pino |
| routers/developer/apps | prisma routers/kernel developer/shared developer/access developer/audit developer/mails developer/reviews developer/pictures developer/deletion developer/activity | koa @koa node:http jose pino |
| routers/developer/teams | prisma routers/kernel developer/shared developer/access developer/audit developer/mails developer/reviews developer/apps developer/deletion | koa @koa node:http jose pino |
| routers/developer/test-club | prisma routers/kernel routers/storage routers/quizzes routers/webhooks routers/directory developer/shared developer/access developer/audit developer/webhook | koa @koa node:http jose pino |
| routers/developer/clients | prisma routers/kernel developer/shared developer/access developer/audit developer/mails developer/reviews developer/test-club | koa @koa node:http jose pino |
| routers/developer | prisma routers/kernel developer/shared developer/access developer/audit developer/mails developer/reviews developer/pictures developer/webhook developer/addresses developer/deletion developer/secrets developer/activity developer/data developer/apps developer/teams developer/test-club developer/clients | koa @koa node:http jose pino |
| routers/approvals | prisma routers/kernel developer/audit developer/reviews developer/shared developer/mails developer/access | koa @koa node:http jose pino    |
| routers         | prisma routers                              | koa @koa node:http jose pino    |
| clients         | routers                                     | koa @koa pg @prisma zod node:http jose pino |
| rest-facade     | routers                                     | koa @koa pg @prisma             |
| server/secrets  | prisma routers                              | koa @koa oidc-provider jose     |
| server/admin    | prisma routers                              | koa @koa oidc-provider jose     |
| server/telemetry | prisma                                     | koa @koa oidc-provider jose pg  |
| server/outgoing | prisma routers                              | koa @koa oidc-provider jose     |
| server/webhooks | prisma routers telemetry outgoing           | koa @koa oidc-provider jose     |
| server/tokens   | prisma routers secrets                      | koa @koa oidc-provider          |
| server/request-log | prisma routers                           | koa @koa node:http oidc-provider jose |
| server/limits   |                                             | koa @koa node:http oidc-provider jose |
| server/http     | prisma routers rest-facade telemetry tokens request-log limits | oidc-provider jose       |
| server/browser  | prisma routers http limits tokens           | oidc-provider jose              |
| server/mails    | prisma routers browser                      | koa @koa oidc-provider jose     |
| server/calendar | prisma routers http limits                 | oidc-provider jose              |
| server/docs     | prisma routers http browser                 | oidc-provider jose marked       |
| server/docs/build | browser docs                              | oidc-provider jose koa @koa     |
| server/reference | routers rest-facade http browser docs      | oidc-provider jose marked       |
| server/reference/build | routers docs docs/build reference    | oidc-provider jose koa @koa     |
| server/search   | routers rest-facade http limits browser docs reference | oidc-provider jose marked |
| server/mcp      | prisma routers rest-facade http             | oidc-provider jose              |
| server/trpc     | routers rest-facade tokens http             | oidc-provider jose              |
| server/oauth/keys | prisma routers secrets tokens browser     | koa @koa oidc-provider          |
| server/oauth/consents | prisma routers browser oauth/keys     | koa @koa jose                   |
| server/oauth/engine | prisma routers secrets tokens limits http browser outgoing oauth/keys oauth/consents | |
| server/oauth/endpoints | prisma routers tokens limits http browser oauth/consents oauth/engine | |
| server/oauth/pages | prisma routers tokens limits http browser oauth/keys oauth/consents oauth/engine oauth/endpoints | |
| server/oauth    | prisma routers secrets tokens limits http browser oauth/keys oauth/engine oauth/endpoints oauth/pages | |
| server/portal   | prisma routers http browser mails           | oidc-provider jose              |
| server/process  | examples prisma routers secrets telemetry outgoing webhooks tokens request-log limits http browser mails calendar docs reference search mcp trpc oauth oauth/keys oauth/consents oauth/engine oauth/endpoints oauth/pages portal | |
| server/commands/line | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process | koa @koa |
| server/commands/removals | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line | koa @koa |
| server/commands/client | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line commands/removals | koa @koa |
| server/commands/member | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line commands/removals | koa @koa |
| server/commands/import | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line | koa @koa |
| server/commands/operation | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line | koa @koa |
| server/commands/storage | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line | koa @koa |
| server/commands/team | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line | koa @koa |
| server/commands/keys | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line commands/removals | koa @koa |
| server/commands/secrets | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line | koa @koa |
| server/commands/webhook | prisma routers secrets admin outgoing webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line | koa @koa |
| server/commands/words | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line | koa @koa |
| server/commands/development | prisma routers secrets admin webhooks tokens browser oauth oauth/keys oauth/consents oauth/engine process commands/line | koa @koa |
| server/commands/program | process commands/line commands/removals commands/client commands/member commands/import commands/operation commands/storage commands/team commands/keys commands/secrets commands/webhook commands/development commands/words | koa @koa |
| server/commands | process commands/program | koa @koa |
| server          | prisma routers secrets process commands commands/program |                                 |
`)
const directories = arrows.map((row) => row.directory)
const resolveRooms = (imports: string) =>
  imports.split(' ').flatMap((name) => {
    if (name === 'routers') return directories.filter((directory) => directory.startsWith('routers'))
    return [name, `server/${name}`, `routers/${name}`].find((one) => directories.includes(one))!
  })

const root = join(import.meta.dirname, '../..')
const findFiles = (directories: readonly string[], pattern: RegExp) =>
  directories.flatMap((directory) =>
    readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
      .map((name) => join(directory, name))
      .filter((path) => pattern.test(path) && !/\/(?:dist|node_modules)\//.test(path)),
  )
const layers = ['prisma', 'routers', 'clients', 'rest-facade', 'server', 'examples']
const files = findFiles(layers, /\.ts$/)
const scripts = findFiles(layers, /\.m?js$/)
/** Files of no layer. */
const outside = findFiles(['bench', 'test'], /\.(?:ts|mjs)$/)
const sources = new Map(
  [...files, ...scripts, ...outside].map((path) => [path, readFileSync(join(root, path), 'utf8')]),
)
const isWritten = (path: string) => !path.startsWith('prisma/generated/')
const written = files.filter(isWritten)

/** Type-only imports count, as they are arrows for a reader. */
const IMPORT = /^(?:import|export)\s(?:[^;'"]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/gm
const RUN_TIME_IMPORT = /^(?:import|export)\s(?!type\s)(?:[^;'"]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/gm

const findImports = (path: string, pattern = IMPORT) =>
  [...sources.get(path)!.matchAll(pattern)].map(([, from, dynamic]) => (from ?? dynamic)!)
const resolved = (path: string, from: string) => relative(root, join(root, dirname(path), from))
const findOwnImports = (path: string) =>
  findImports(path)
    .filter((from) => from.startsWith('.'))
    .map((from) => resolved(path, from))
const isIn = (directory: string, path: string) => path.startsWith(`${directory}/`)
const byLength = [...arrows].sort((a, b) => b.directory.length - a.directory.length)
const findRow = (path: string) => byLength.find((row) => isIn(row.directory, path))!
const matchesPackage = (packages: string, name: string) =>
  packages.split(' ').some((one) => name === one || (one !== '' && isIn(one, name)))

/** By line; the second and the third are about comments. */
const dialect = [
  /\b(?:told|owed|anew|patience|wish|room|carryOut|MOST_[A-Z]+)\b/i,
  /^\s*(?:\/?\*\*?|\/\/).*\b(?:kept over|in turns?|takes? turns|for good|mend(?:s|ed)?|(?:is|are) away|under way|(?:is|are) owed)\b/,
  /^\s*(?:\/?\*\*?|\/\/) (?:What (?:is|are|was)|Those (?:of|that|who)|Who (?:has|is|may)|Whose|Likewise)\b/,
]

/** Names in Of that others have given, or that are a term of the field. */
const ofNames = table<'names' | 'reason'>(`
| names                                                          | reason      |
|----------------------------------------------------------------|-------------|
| indexOf lastIndexOf valueOf getPrototypeOf                     | JavaScript  |
| expectTypeOf toEqualTypeOf toBeTypeOf toBeInstanceOf toBeOneOf | Vitest      |
| allOf anyOf oneOf                                              | JSON Schema |
| memberOf                                                       | LDAP        |
`)

const worded = [...written, ...scripts.filter(isWritten), ...outside].filter(
  (path) => path !== 'test/unit/architecture.test.ts',
)

/** What matches the patterns, with its file and line. */
const findLines = (patterns: readonly RegExp[]) =>
  worded.flatMap((path) =>
    sources
      .get(path)!
      .split('\n')
      .flatMap((line, i) =>
        patterns.flatMap((pattern) => line.match(pattern) ?? []).map((found) => `${path}:${i + 1}: ${found}`),
      ),
  )

/** What breaks a rule, with its file. */
const offenders = (rule: (path: string) => readonly string[]) =>
  written.flatMap((path) => rule(path).map((fault) => `${path}: ${fault}`))
const findMatches = (pattern: RegExp) => (path: string) => sources.get(path)!.match(pattern) ?? []

describe('every file', () => {
  it('imports only rooms that the table allows', () => {
    const foreignRooms = (path: string) => {
      const { directory, imports } = findRow(path)
      const rooms = findOwnImports(path).map((file) => findRow(file).directory)
      return rooms.filter((room) => room !== directory && !resolveRooms(imports).includes(room))
    }
    expect(offenders(foreignRooms)).toEqual([])
  })

  it('imports no package that the table forbids', () => {
    expect(
      offenders((path) => findImports(path).filter((name) => matchesPackage(findRow(path).forbidden, name))),
    ).toEqual([])
  })

  it('reads the clock, in routers, from core.now()', () => {
    const readings = findMatches(/Date\.now\(|new Date\(\)/g)
    expect(offenders((path) => (isIn('routers', path) ? readings(path) : []))).toEqual([])
  })

  it('takes settings from server/process/config.ts, which alone reads the environment', () => {
    const readings = findMatches(/process\.env|Deno\.env/g)
    expect(offenders((path) => (path === 'server/process/config.ts' ? [] : readings(path)))).toEqual([])
  })

  it('has one subject, named by its file name', () => {
    const vague = /(?:^|\/)(?:utils?|lib|helpers?|services?|common|misc|types)(?:\/|\.ts$)/
    expect(written.filter((path) => vague.test(path))).toEqual([])
  })

  it('uses standard terms, not the dialect that they replace', () => {
    expect(findLines(dialect)).toEqual([])
  })

  it('names helpers by what they do, not by what they return', () => {
    const allowed = ofNames.flatMap(({ names }) => names.split(' '))
    expect(findLines([/(?<!\\)\b\w*[a-z\d]Of\b/g]).filter((line) => !allowed.includes(line.split(': ')[1]!))).toEqual(
      [],
    )
  })

  it('begins no name with of: it is a verb, or a noun', () => {
    expect(offenders(findMatches(/\bof[A-Z]\w*/g))).toEqual([])
  })

  it('calls no URL.canParse (prisma/parse-url.ts)', () => {
    // The SDK's program asks it once, of ASCII.
    expect(findLines([/\bURL\.canParse\(/]).filter((line) => !line.startsWith('clients/'))).toEqual([])
  })

  it('begins no comment with Of', () => {
    expect(findLines([/^\s*(?:\/?\*\*?|\/\/) Of\b/])).toEqual([])
  })

  it('breaks its comments: at most 134 characters a line', () => {
    expect(findLines([/^\s*(?:\/?\*\*?|\/\/) .*(?<=^.{135,})$/])).toEqual([])
  })

  it('writes properties one by one, in place of a spread that packs them on a line', () => {
    const packed = [...written, ...scripts.filter(isWritten), ...outside].filter((path) =>
      /\.\.\.\{/.test(sources.get(path)!),
    )
    expect(packed).toEqual([])
  })

  it('reads a form of the portal in read-field.ts alone', () => {
    const readings = findMatches(/\b(?:form|fields|typed|posted)\.(?:get|has)\('/g)
    expect(offenders((path) => (isIn('server/portal', path) ? readings(path) : []))).toEqual([])
  })

  it('exports nothing of another file, but a package its types', () => {
    const exported = findMatches(/^export\s(?:type\s)?(?:\*|\{)[^;]*?\sfrom\s/gm)
    const ofOthers = (path: string) => (path === 'clients/sdk/client.ts' ? [] : exported(path))
    expect(offenders(ofOthers)).toEqual([])
  })
})

/** The files that may use private parts of libraries; test/conformance/private-parts.test.ts has what they assume of each. */
const internals = [
  'prisma/pg/pg-internals.ts',
  'routers/kernel/trpc-internals.ts',
  'server/oauth/engine/oidc-internals.ts',
]

/** What neither the types nor the documents of a library offer. */
const privateParts = [
  // Offered: Prisma's aggregates, a zod definition, and what a module of wasm-bindgen exports. `public` is a schema.
  /(?<!public)\._(?!(?:count|sum)\b|zod\.def\b|_wb)\w+/g,
  /[{,]\s*_(?:config|def|handle|header|zod)\b|\{ connection\b|\['_\w+'\]/g,
  /\b(?:experimental|unstable)_\w+|\bdo-not-import\b/g,
  /\.connection\b|\bhandle(?:CommandComplete|DataRow|Error|ReadyForQuery)\b/g,
  /\bgetOwnPropertySymbols\b|\bprocess\.binding\b/g,
]
const isInsidePackage = (name: string) =>
  /^(?:@[^/]+\/)?[^./][^/]*\/(?:build|cjs|dist|esm|internal|lib|src)\//.test(name)

const privatePartsIn = (path: string) => [
  ...privateParts.flatMap((pattern) => findMatches(pattern)(path)),
  ...findImports(path).filter(isInsidePackage),
]

describe('private parts of libraries', () => {
  it('are used in three files alone', () => {
    const users = [...written, ...scripts.filter(isWritten)].filter((path) => !internals.includes(path))
    const uses = users.flatMap((path) => privatePartsIn(path).map((use) => `${path}: ${use}`))
    expect(uses).toEqual([])
  })

  it.each(internals)('are used in %s', (path) => {
    expect(privatePartsIn(path)).not.toEqual([])
  })
})

/** What runs SQL on a connection, and why it is no statement. */
const rawClients: Record<string, string> = {
  'prisma/applied-functions.ts': 'before the schema is there',
  'prisma/applied-migrations.ts': 'before the schema is there',
  'prisma/embedded/database.ts': 'before the schema is there',
  'prisma/embedded/server.ts': 'before the schema is there',
  'prisma/migrate.ts': 'migrations',
  'prisma/migration-lock.ts': 'migrations',
  'prisma/search-path.ts': 'migrations',
  'prisma/session-limits.ts': 'migrations',
  'prisma/tools/author-migration.ts': 'migrations',
  'prisma/pg/execute.ts': 'runs the statements',
  'prisma/pg/notifications.ts': 'LISTEN',
  'prisma/pg/observed-pool.ts': 'observes all queries',
  'prisma/pg/readiness.ts': 'must not wait for a plan',
  'prisma/pg/transaction.ts': 'BEGIN and COMMIT',
  'routers/directory/announce.ts': 'temporary tables',
  'routers/directory/children.ts': 'temporary tables',
  'routers/directory/composed.ts': 'temporary tables',
  'routers/directory/end.ts': 'temporary tables',
  'routers/directory/list.ts': 'SQL by record type',
  'routers/directory/merge.ts': 'temporary tables',
  'routers/directory/rules.ts': 'temporary tables',
  'routers/directory/stage.ts': 'temporary tables',
  'routers/directory/write.ts': 'temporary tables',
  'routers/personal-data/export.ts': 'a cursor',
  'routers/webhooks/member-events/announce.ts': 'temporary tables',
  'server/commands/import/load-record-types.ts': 'BEGIN and COMMIT',
}

const rawQueries = /\b(?:client|connection|pool|transaction|tx)!?\.query\b|\$(?:execute|query)Raw(?:Unsafe)?\b/g

describe('SQL', () => {
  it('is declared as a statement, except in the files of the table', () => {
    const found = written.filter((path) => sources.get(path)!.match(rawQueries))
    expect(found.sort()).toEqual(Object.keys(rawClients).sort())
  })
})

describe('the table', () => {
  it('lets each room import only rooms above it', () => {
    const above: string[] = []
    for (const { directory, imports } of arrows) {
      above.push(directory)
      if (imports !== '') expect(above).toEqual(expect.arrayContaining(resolveRooms(imports)))
    }
  })
})

describe('the bench and the tests', () => {
  it('import nothing of each other', () => {
    const crossing = outside.filter((path) =>
      findOwnImports(path).some((file) => isIn(isIn('bench', path) ? 'test' : 'bench', file)),
    )
    expect(crossing).toEqual([])
  })
})

describe('the files', () => {
  it('import one another without a circle', () => {
    const done = new Set<string>()
    const circles: string[] = []
    const visit = (path: string, above: string[]) => {
      if (above.includes(path)) circles.push([...above.slice(above.indexOf(path)), path].join(' -> '))
      else if (!done.has(path)) {
        for (const from of findOwnImports(path)) if (sources.has(from)) visit(from, [...above, path])
        done.add(path)
      }
    }
    for (const path of [...written, ...outside.filter((path) => isIn('bench', path))]) visit(path, [])
    expect(circles).toEqual([])
  })
})

/** What a program loads: our own files and packages. */
function loadedBy(entry: string, imports = RUN_TIME_IMPORT) {
  const packages = new Set<string>()
  const seen = new Set<string>()
  const load = (path: string) => {
    if (seen.has(path)) return
    seen.add(path)
    for (const from of findImports(path, imports)) {
      if (from.startsWith('.')) load(resolved(path, from))
      else packages.add(from)
    }
  }
  load(entry)
  return { packages: [...packages], files: [...seen] }
}

describe('the worker, and the service in process', () => {
  it.each(['server/worker.ts', 'server/in-process.ts'])('load neither koa nor oidc-provider: %s', (entry) => {
    const { packages } = loadedBy(entry)
    expect(packages).toContain('pg')
    expect(packages.filter((name) => matchesPackage('koa @koa oidc-provider openid-client jose', name))).toEqual([])
  })
})

describe('commands', () => {
  const registry = 'server/commands/program/registry.ts'
  const modules = findOwnImports(registry).filter((path) => !/(?:command|start)\.ts$/.test(path))
  it('are found in their registry', () => expect(modules.length).toBeGreaterThan(15))

  // 190 ms of the processor, a sixth of `client list`.
  it.each(modules)('that do not run the service load neither koa nor oidc-provider: %s', (path) => {
    const { packages } = loadedBy(path)
    expect(packages.filter((name) => matchesPackage('koa @koa oidc-provider', name))).toEqual([])
  })
})

describe('openRuntime', () => {
  it('loads, before a part is asked for, what opens a database', () => {
    const STATIC_IMPORT = /^(?:import|export)\s(?!type\s)(?:[^;'"]*?\sfrom\s+)?'([^']+)'/gm
    const { packages } = loadedBy('server/process/runtime.ts', STATIC_IMPORT)
    expect(packages.filter((name) => !name.startsWith('node:'))).toEqual(['pg'])
  })
})

describe('the decoders of pictures', () => {
  it('are loaded by the first upload, not by a start', () => {
    const decoders = ['pngjs', 'jpeg-js']
    const importing = written.filter((path) => findImports(path).some((name) => decoders.includes(name)))
    expect(importing.length).toBeGreaterThan(1)
    for (const path of importing) expect(sources.get(path)).not.toMatch(/from '(?:pngjs|jpeg-js)'/)
  })
})

describe('clients/first-party/client.ts', () => {
  it('loads its own files, tRPC and eventsource', () => {
    const { packages, files } = loadedBy('clients/first-party/client.ts')
    expect(packages.sort()).toEqual(['@trpc/client', '@trpc/server/observable', 'eventsource'])
    expect(files.filter((path) => !isIn('clients/first-party', path))).toEqual([])
  })
})

describe('clients/sdk', () => {
  it.each([
    ['client.ts', []],
    ['browser.ts', ['oauth4webapi']],
    ['webhooks.ts', []],
    ['init/main.ts', ['node:path', 'node:util', 'node:fs/promises']],
  ])('loads its own files, and of packages for %s: %s', (entry, expected) => {
    const { packages, files } = loadedBy(`clients/sdk/${entry}`)
    expect(packages).toEqual(expected)
    expect(files.filter((path) => !isIn('clients/sdk', path))).toEqual([])
  })
})
