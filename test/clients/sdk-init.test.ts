import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { run } from '../../clients/sdk/init/command.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const root = join(import.meta.dirname, '../..')
const sdk = join(root, 'clients/sdk')

/** Runs the command as npx does, but in this process. */
async function call(...argv: string[]) {
  let [stdout, stderr] = ['', '']
  const io = {
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
  }
  return { code: await run(argv, sdk, io), stdout, stderr }
}

const apps = ['--apps', 'http://apps.localhost:3000/v1']
const addresses = [...apps, '--issuer', 'http://auth.localhost:3000/v1/oauth']

/** The address of an API with these documents. */
async function metadata(answer: (url: string) => unknown) {
  const server = createServer(({ url }, response) => response.end(JSON.stringify(answer(url!)))).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function filesIn(folder: string, isOwn = (_path: string) => true) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name))
  return paths
    .map((path) => path.slice(folder.length + 1))
    .filter(isOwn)
    .sort()
}
const ofPage = (path: string) => !path.startsWith('sdk/')

describe('member-apps-sdk init', () => {
  it.each([
    ['vanilla', [], ['.env', '.gitignore', 'index.html', 'main.js', 'package.json', 'style.css']],
    [
      'react',
      ['--template', 'react'],
      ['.env', '.gitignore', 'index.html', 'main.jsx', 'package.json', 'style.css', 'vite.config.js'],
    ],
  ])('writes the template %s with a copy of the package into a new folder', async (template, options, files) => {
    const folder = join(await temporaryDirectory(), 'new/my app')
    const { code, stdout, stderr } = await call('init', folder, '--client-id', 'my-page', ...addresses, ...options)
    expect([code, stderr]).toEqual([0, ''])
    expect(stdout).toContain(`\n  cd "${folder}"\n  npm install\n  npm run dev\n`)

    expect(await filesIn(folder, ofPage)).toEqual(files)
    for (const name of files.filter((name) => !name.startsWith('.'))) {
      const of = name === 'style.css' ? 'shared' : template
      expect(await readFile(join(folder, name))).toEqual(await readFile(join(sdk, 'templates', of, name)))
    }
    expect(await readFile(join(folder, '.env'), 'utf8')).toBe(
      '# Vite puts these into the page.\nVITE_CLIENT_ID=my-page\n' +
        'VITE_ISSUER=http://auth.localhost:3000/v1/oauth\nVITE_APPS=http://apps.localhost:3000/v1\n',
    )
    const copied = await filesIn(join(folder, 'sdk'))
    expect(copied).toEqual(expect.arrayContaining(['README.md', 'dist/browser.js', 'dist/client.js', 'package.json']))
    expect(copied.filter((path) => /^\.|\/\.|\.ts$/.test(path) && !path.endsWith('.d.ts'))).toEqual([])
    for (const path of copied) {
      expect(await readFile(join(folder, 'sdk', path))).toEqual(await readFile(join(sdk, path)))
    }
  })

  it('writes the addresses that it gets, into an empty folder', async () => {
    const folder = await temporaryDirectory()
    const urls = ['--issuer', 'https://auth.example.org/v1/oauth', '--apps', 'https://[::1]:8443/apps/v1/']
    expect(await call('init', folder, '--client-id', 'A_1-b', ...urls)).toMatchObject({ code: 0 })
    expect((await readFile(join(folder, '.env'), 'utf8')).split('\n').slice(1)).toEqual([
      'VITE_CLIENT_ID=A_1-b',
      'VITE_ISSUER=https://auth.example.org/v1/oauth',
      'VITE_APPS=https://[::1]:8443/apps/v1/',
      '',
    ])
  })

  it.each(['', '/', '/apps/v1', '/apps/v1/'])('reads the authorization server of the API at %j', async (path) => {
    const asked: string[] = []
    const api = await metadata((url) => {
      asked.push(url)
      return { authorization_servers: ['https://auth.example.org/v1/oauth'] }
    })
    const folder = await temporaryDirectory()
    expect(await call('init', folder, '--client-id', 'my-page', '--apps', api + path)).toMatchObject({ code: 0 })
    expect(asked).toEqual([`/.well-known/oauth-protected-resource${path.replace(/\/$/, '')}`])
    const env = await readFile(join(folder, '.env'), 'utf8')
    expect(env).toContain(`\nVITE_ISSUER=https://auth.example.org/v1/oauth\nVITE_APPS=${api}${path}\n`)
  })

  it.each<[answer: string, document: unknown]>([
    ['nothing', {}],
    ['another form', 'text'],
    ['an address that acts on the file', { authorization_servers: ['https://a.example/\nVITE_APPS=b'] }],
  ])('writes nothing when the API names as authorization server %s', async (_answer, document) => {
    const api = await metadata(() => document)
    const folder = await temporaryDirectory()
    expect(await call('init', folder, '--client-id', 'my-page', '--apps', `${api}/v1`)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${api}/.well-known/oauth-protected-resource/v1 names no authorization server: check --apps, or add --issuer.\n`,
    })
    expect(await readdir(folder)).toEqual([])
  })

  it('refuses a folder with a file, which stays the only one', async () => {
    const folder = await temporaryDirectory()
    await writeFile(join(folder, '.env'), 'SECRET=1\n')
    expect(await call('init', folder, '--client-id', 'my-page', ...addresses)).toEqual({
      code: 1,
      stdout: '',
      stderr: `The folder ${folder} is not empty, so nothing was written. Choose a new or an empty one.\n`,
    })
    expect(await readdir(folder)).toEqual(['.env'])
    expect(await readFile(join(folder, '.env'), 'utf8')).toBe('SECRET=1\n')
  })

  it('refuses a folder that contains only an empty folder', async () => {
    const folder = await temporaryDirectory()
    await mkdir(join(folder, 'src'))
    expect(await call('init', folder, '--client-id', 'my-page', ...addresses)).toMatchObject({ code: 1, stdout: '' })
    expect(await readdir(folder, { recursive: true })).toEqual(['src'])
  })

  it('refuses a file in place of a folder, and leaves it as it was', async () => {
    const file = join(await temporaryDirectory(), 'notes.txt')
    await writeFile(file, 'mine')
    expect(await call('init', file, '--client-id', 'my-page', ...addresses)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${file} is not a folder.\n`,
    })
    expect(await readFile(file, 'utf8')).toBe('mine')
  })

  const id = ['--client-id', 'my-page']
  it.each<[reason: string, message: string, argv: string[]]>([
    [
      'no client id',
      '--client-id is required: register a client with the redirect URI http://localhost:5173/ first.',
      [],
    ],
    ...[
      ...['', 'a b', `a'b`, 'a"b', 'a`b', 'a\nVITE_APPS=http://evil.example/', 'a#b', '$HOME', '</script>', 'ä'],
      'a'.repeat(65),
    ].map((hostile): [string, string, string[]] => [
      `the client id ${JSON.stringify(hostile)}`,
      `--client-id must be 1 to 64 letters, digits, '_' or '-'.`,
      [`--client-id=${hostile}`],
    ]),
    ...['issuer', 'apps'].flatMap((name) =>
      [
        ...['', 'auth.example.org', 'javascript:alert(1)', 'ftp://a.example/', 'file:///etc/passwd', 'http://'],
        ...['//a.example/', ' https://a.example/', 'https://a:b@a.example/', 'https://a.example:99999/'],
        ...['"', "'", '`', '\nVITE_CLIENT_ID=b', 'v1\n', '#b', '?b', '$HOME', '</script>'].map(
          (end) => `https://a.example/${end}`,
        ),
        'https://1.2.3.999/',
      ].map((hostile): [string, string, string[]] => [
        `--${name} ${JSON.stringify(hostile)}`,
        `--${name} must be an http or https URL without a query, as https://example.org/v1.`,
        [...id, `--${name}=${hostile}`],
      ]),
    ),
    ['no address of the API', '--apps is required: the address of the apps API.', id],
    ['an unknown template', '--template must be vanilla or react.', [...id, '--template', '../sdk']],
    ['a template named after a property', '--template must be vanilla or react.', [...id, '--template', 'constructor']],
    ['an unknown option', 'Unknown option --clientid.', ['--clientid', 'my-page']],
    ['a short option', 'Unknown option -t.', [...id, '-t', 'react']],
    ['an option without its value', "Option '--client-id <value>' argument missing", ['--client-id']],
    ['a second folder', 'One folder is required.', [...id, 'another']],
  ])('refuses %s, and creates no folder', async (_reason, message, argv) => {
    const folder = join(await temporaryDirectory(), 'my-app')
    const { code, stdout, stderr } = await call('init', folder, ...argv)
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/\n\nWrites a page .*\nUsage:\n {2}member-apps-sdk init \[FOLDER\]/s)
    expect(stderr.slice(0, stderr.indexOf('\n\n'))).toBe(message)
    expect(existsSync(folder)).toBe(false)
  })

  it.each([
    [[], 'An action is required: init.'],
    [['innit', 'my-app'], 'There is no action innit.'],
    [['init', '', ...id], 'One folder is required.'],
  ])('refuses the arguments %j', async (argv, message) => {
    const { code, stderr } = await call(...argv)
    expect([code, stderr.split('\n')[0]]).toEqual([2, message])
  })

  it.each([[['--help']], [['init', '-h']], [['init', 'my-app', '--help']]])(
    'prints its usage with examples for %j',
    async (argv) => {
      const { code, stdout, stderr } = await call(...argv)
      expect([code, stderr]).toEqual([0, ''])
      expect(stdout).toContain('\nExamples:\n  member-apps-sdk init my-app --client-id my-page --apps http')
    },
  )
})

describe('the page of docs/first-app.md', () => {
  const page = readFileSync(join(root, 'docs/first-app.md'), 'utf8')
  const printed = [...page.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code)

  it('is main.js of the template vanilla, of at most 40 lines', () => {
    const script = readFileSync(join(sdk, 'templates/vanilla/main.js'), 'utf8')
    expect(printed).toEqual([script])
    expect(script.trimEnd().split('\n').length).toBeLessThanOrEqual(40)
  })
})
