import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { startMailServer } from '../../../oauth/mail-server.ts'
import { freePort, until } from '../../../process/service.ts'
import { withName } from '../../../support/addresses.ts'
import { query } from '../../../support/databases.ts'
import { temporaryPaths } from '../../topology/nginx.ts'
import { lacking } from '../../topology/program.ts'
import { openShell } from './shell.ts'

const execute = promisify(execFile)
const root = (path: string) => fileURLToPath(new URL(`../../../../${path}`, import.meta.url))
const hosts = ['apps', 'lms', 'notify', 'sync', 'auth'].map((name) => `${name}.example.org`)

/** What the page asks for and this machine lacks; '' when it has everything. */
export function missing(): string {
  const lacks = lacking('nginx', 'psql', 'pg_dump', 'pg_restore', 'openssl', 'curl')
  if (!process.env.TEST_DATABASE_URL) lacks.push('TEST_DATABASE_URL')
  return lacks.join(', ')
}

/** A machine of the page's reader in a directory: its checkout, its system directories and programs, its mail server. */
export async function prepareMachine(databaseServer: string) {
  const directory = await mkdtemp(join(tmpdir(), 'member-apps-production-'))
  // PostgreSQL's user may enter it also when the tests are run by root.
  await chmod(directory, 0o755)
  const path = (name: string) => join(directory, name)
  for (const name of ['bin', 'conf.d', 'units', 'run', 'temp', 'home', 'checkout']) await mkdir(path(name))
  await Promise.all([
    makeCheckout(path('checkout')),
    copyFile(join(import.meta.dirname, 'systemctl'), path('bin/systemctl')),
    writeFile(
      path('bin/nginx'),
      `#!/bin/sh\nPATH=$PATH:/usr/sbin exec "$(PATH=\${PATH#*:}:/usr/sbin command -v nginx)" -p "$ROOT" -c "$ROOT/nginx.conf" "$@"\n`,
    ),
    writeFile(
      path('bin/sudo'),
      `#!/bin/sh\nshift 2\nexport ${formatAdministratorVariables(databaseServer)}\nexec "$@"\n`,
    ),
    // A machine that runs a release needs Node alone.
    writeFile(path('bin/npm'), '#!/bin/sh\necho "npm: not found" >&2\nexit 127\n'),
  ])
  await Promise.all(['systemctl', 'nginx', 'sudo', 'npm'].map((name) => chmod(path(`bin/${name}`), 0o755)))
  const http = `access_log off;\n${temporaryPaths}\ninclude conf.d/*.conf;`
  await writeFile(path('nginx.conf'), `pid run/nginx;\nerror_log nginx.log;\nevents {}\nhttp {\n${http}\n}\n`)

  const [httpPort, https, publicPort, internalPort, receiver] = await Promise.all(Array.from({ length: 5 }, freePort))
  const connections = hosts.map((host) => `connect-to = "${host}:443:127.0.0.1:${https}"`)
  await writeFile(path('home/.curlrc'), [`cacert = "${path('etc/tls.crt')}"`, ...connections].join('\n'))
  const mailServer = await startMailServer()
  const name = `production_${randomBytes(5).toString('hex')}`
  const { host, hostname, port } = new URL(databaseServer)

  /** What the page says, and what it is here. */
  const here: [string, string][] = [
    ['/opt/member-apps', path('opt')],
    ['/etc/member-apps', path('etc')],
    ['/etc/systemd/system', path('units')],
    ['/usr/local/bin', path('bin')],
    ['/var/backups/member-apps', path('backups')],
    ['/var/lib/member-apps', path('data')],
    ['127.0.0.1:5432', port ? host : `${hostname}:5432`],
    ['member_apps', name],
    ['PORT=3000', `PORT=${publicPort}`],
    ['127.0.0.1:3000', `127.0.0.1:${publicPort}`],
    ['PORT=3001', `PORT=${internalPort}`],
    ['127.0.0.1:3001', `127.0.0.1:${internalPort}`],
    ['listen 80', `listen 127.0.0.1:${httpPort}`],
    ['listen 443', `listen 127.0.0.1:${https}`],
    ['PORT=4000', `PORT=${receiver}`],
    ['localhost:4000', `localhost:${receiver}`],
    ['smtps://user:password@mail.example.org', mailServer.url],
  ]
  const translate = (text: string) => here.reduce((translated, [there, own]) => translated.replaceAll(there, own), text)
  const units = await readdir(root('deploy/systemd'))
  await mkdir(path('checkout/deploy/systemd'), { recursive: true })
  for (const unit of units) {
    const text = translate(await readFile(root(`deploy/systemd/${unit}`), 'utf8'))
    await writeFile(path(`checkout/deploy/systemd/${unit}`), text)
  }
  const shell = openShell(directory, {
    cwd: path('checkout'),
    env: {
      PATH: `${path('bin')}:${dirname(process.execPath)}:${process.env.PATH}`,
      HOME: process.env.HOME ?? path('home'),
      ROOT: directory,
      CURL_HOME: path('home'),
      // Where packages come from, not what npm tells its scripts of this project.
      ...Object.fromEntries(
        Object.entries(process.env).filter(([name]) => /^npm_config_(?:registry|cache|userconfig)$/i.test(name)),
      ),
      npm_config_prefer_offline: 'true',
      npm_config_audit: 'false',
      npm_config_fund: 'false',
    },
  })

  return {
    path,
    shell,
    mailServer,
    https,
    databases: { own: withName(databaseServer, name), copy: withName(databaseServer, `${name}_copy`) },
    translate,
    /** The units of deploy/systemd by name, as the page's reader would install them. */
    units: () => textsIn(path('checkout/deploy/systemd')),
    installedUnits: () => textsIn(path('units')),
    /** A certificate for the five names, which curl trusts here. */
    makeCertificate: () =>
      execute('openssl', [
        'req',
        '-x509',
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:P-256',
        '-nodes',
        '-days',
        '2',
        '-subj',
        '/CN=proxy',
        '-addext',
        `subjectAltName=${hosts.map((host) => `DNS:${host}`).join(',')}`,
        '-keyout',
        path('etc/tls.key'),
        '-out',
        path('etc/tls.crt'),
      ]),
    /** The ends of the services' logs, for a failure's message. */
    async logs() {
      const names = (await readdir(directory)).filter((file) => file.endsWith('.log'))
      const restoreDeadline = async (file: string) =>
        (await readFile(path(file), 'utf8')).split('\n').slice(-30).join('\n')
      return (await Promise.all(names.map(async (file) => `== ${file}\n${await restoreDeadline(file)}`))).join('\n')
    },
    async close() {
      await shell.close()
      for (const file of await readdir(path('run'))) await stop(Number(await readFile(path(`run/${file}`), 'utf8')))
      await mailServer.close()
      for (const database of [name, `${name}_copy`]) {
        await query(databaseServer, `DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
      }
      await query(databaseServer, `DROP ROLE IF EXISTS ${name}`)
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function textsIn(directory: string): Promise<Record<string, string>> {
  const names = (await readdir(directory)).sort()
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), 'utf8')])),
  )
}

/**
 * The superuser's connection as variables of libpq, without a time limit for statements: a busy disk takes longer to copy a
 * database.
 */
function formatAdministratorVariables(databaseServer: string): string {
  const { hostname, port, username, password, pathname } = new URL(databaseServer)
  const variables = {
    PGHOST: hostname,
    PGPORT: port || '5432',
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: pathname.slice(1),
    PGOPTIONS: '-c statement_timeout=0',
  }
  return Object.entries(variables)
    .map(([name, value]) => `${name}='${value}'`)
    .join(' ')
}

/** As after a build: what the page copies from it, and the example that it starts. */
async function makeCheckout(checkout: string) {
  const files = [
    'dist',
    'package.json',
    'package-lock.json',
    'prisma/functions',
    'prisma/migrations',
    'prisma/upgrade',
    'examples/webhook-receiver',
  ]
  for (const file of files) await cp(root(file), join(checkout, file), { recursive: true })
  await symlink(root('node_modules'), join(checkout, 'node_modules'))
}

/** Until it has ended, or nobody has buried it yet. */
async function stop(pid: number) {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {}
  const state = () => readFile(`/proc/${pid}/status`, 'utf8').catch(() => '')
  await until(state, (text) => text === '' || /^State:\s+Z/m.test(text), 10_000).catch(() => {})
}
