import { parseArgs } from 'node:util'
import type { Project } from './project.ts'
import { isTemplate, writeProject } from './project.ts'

interface Io {
  stdout: { write(text: string): unknown }
  stderr: { write(text: string): unknown }
}

const PAGE = 'http://localhost:5173/'
const ISSUER = 'http://auth.localhost:3000/v1/oauth'
const APPS = 'http://apps.localhost:3000/v1'

const USAGE = `Writes a page that signs a member in, shows their groups and stores notes: a project for Vite.

Usage:
  member-apps-sdk init [FOLDER] --client-id ID [--template vanilla|react] [--issuer URL] [--apps URL]

  FOLDER         a new or empty one; by default the current folder
  --client-id    the client that members sign in to; its redirect URI must be ${PAGE}
  --template     vanilla (default) or react
  --issuer       the authorization server, by default ${ISSUER}
  --apps         the apps API, by default ${APPS}

Examples:
  member-apps-sdk init my-app --client-id my-page
  member-apps-sdk init my-app --client-id my-page --template react
  member-apps-sdk init my-app --client-id my-page \\
    --issuer https://auth.example.org/v1/oauth --apps https://apps.example.org/v1
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
    const project = parseProject(argv)
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

function parseProject(argv: readonly string[]): Project {
  const { values, positionals } = parsed(argv)
  const [action, folder = '.', ...more] = positionals
  if (action !== 'init') throw new UsageError(action ? `There is no action ${action}.` : 'An action is required: init.')
  if (folder === '' || more.length > 0) throw new UsageError('One folder is required.')
  const { template = 'vanilla', 'client-id': clientId, issuer = ISSUER, apps = APPS } = values
  if (!isTemplate(template)) throw new UsageError('--template must be vanilla or react.')
  if (clientId === undefined) {
    throw new UsageError(`--client-id is required: register a client with the redirect URI ${PAGE} first.`)
  }
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(clientId)) {
    throw new UsageError("--client-id must be 1 to 64 letters, digits, '_' or '-'.")
  }
  return { folder, template, clientId, issuer: address('issuer', issuer), apps: address('apps', apps) }
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
