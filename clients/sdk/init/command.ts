import { parseArgs } from 'node:util'
import type { Project } from './project.ts'
import { isTemplate, writeProject } from './project.ts'

interface Io {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

const PAGE = 'http://localhost:5173/'

const USAGE = `Writes a page that signs a member in, shows their groups and stores notes: a project for Vite.

Usage:
  member-apps-sdk init [FOLDER] --client-id ID --apps URL [--issuer URL] [--template vanilla|react]

  FOLDER         a new or empty one; by default the current folder
  --client-id    the client that members sign in to; its redirect URI must be ${PAGE}
  --apps         the address of the apps API, as https://apps.example.org/v1
  --issuer       the authorization server, by default the one that the API names
  --template     vanilla (default) or react

Examples:
  member-apps-sdk init my-app --client-id my-page --apps http://localhost:3000/apps/v1
  member-apps-sdk init my-app --client-id my-page --apps https://apps.example.org/v1 --template react
`

/** The usage is printed below the message. */
class UsageError extends Error {}

const text = { type: 'string' } as const
const options = { 'client-id': text, template: text, issuer: text, apps: text } as const

/** Resolves with the exit code: 1 when the folder or the disk refuses, 2 when the arguments are wrong. */
export async function run(argv: readonly string[], sdk: string, io: Io): Promise<number> {
  if (argv.includes('--help') || argv.includes('-h')) {
    io.stdout.write(USAGE)
    return 0
  }
  try {
    const { issuer, ...given } = parseProject(argv)
    const project = { ...given, issuer: issuer ?? (await readIssuer(given.apps)) }
    await writeProject(sdk, project)
    io.stdout.write(nextSteps(project))
    return 0
  } catch (error) {
    const { message } = error as Error
    const isUsage = error instanceof UsageError
    io.stderr.write(isUsage ? `${message}\n\n${USAGE}` : `${message}\n`)
    return isUsage ? 2 : 1
  }
}

function parseProject(argv: readonly string[]): Omit<Project, 'issuer'> & { issuer: string | undefined } {
  const { values, positionals } = parsed(argv)
  const [action, folder = '.', ...more] = positionals
  if (action !== 'init') throw new UsageError(action ? `There is no action ${action}.` : 'An action is required: init.')
  if (folder === '' || more.length > 0) throw new UsageError('One folder is required.')
  const { template = 'vanilla', 'client-id': clientId, issuer, apps } = values
  if (!isTemplate(template)) throw new UsageError('--template must be vanilla or react.')
  if (clientId === undefined) {
    throw new UsageError(`--client-id is required: register a client with the redirect URI ${PAGE} first.`)
  }
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(clientId)) {
    throw new UsageError("--client-id must be 1 to 64 letters, digits, '_' or '-'.")
  }
  const server = issuer === undefined ? undefined : address('issuer', issuer)
  if (apps === undefined) throw new UsageError('--apps is required: the address of the apps API.')
  return { folder, template, clientId, issuer: server, apps: address('apps', apps) }
}

/** RFC 9728, 3.1. */
async function readIssuer(apps: string): Promise<string> {
  const { origin, pathname } = new URL(apps)
  const url = `${origin}/.well-known/oauth-protected-resource${pathname.replace(/\/$/, '')}`
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) })
    const { authorization_servers: [issuer] = [] } = (await response.json()) as { authorization_servers?: string[] }
    return address('issuer', issuer ?? '')
  } catch (cause) {
    throw new Error(`${url} names no authorization server: check --apps, or add --issuer.`, { cause })
  }
}

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    const { message } = error as Error
    const [, unknown] = /^Unknown option '([^']+)'/.exec(message) ?? []
    throw new UsageError(unknown === undefined ? message : `Unknown option ${unknown}.`)
  }
}

/** Only with characters that mean nothing in `.env`, where `#` begins a comment and `$` a variable. */
function address(name: string, url: string): string {
  if (/^https?:\/\/[\w.:[\]-]+(?:\/[\w.~/-]*)?$/.test(url) && URL.canParse(url)) return url
  throw new UsageError(`--${name} must be an http or https URL without a query, as https://example.org/v1.`)
}

const nextSteps = ({ folder, clientId }: Project) => `The page is written. To see it:

${folder === '.' ? '' : `  cd ${/^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)}\n`}  npm install
  npm run dev

It is at ${PAGE}, which must be a redirect URI of the client ${clientId}.
`
