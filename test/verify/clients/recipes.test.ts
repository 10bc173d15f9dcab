import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../../../clients/sdk/client.ts'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { printedFiles } from '../../pages/printed-code.ts'
import { dataDirectory, freePort, run } from '../../process/service.ts'
import { inChromium } from '../in-chromium.ts'
import { npm, offline } from '../install/npm.ts'
import { decide, pick } from '../sign-in-pages.ts'
import type { Registered } from './clients-world.ts'
import { worldAt } from './clients-world.ts'

const root = join(import.meta.dirname, '../../..')

/**
 * The programs of docs/recipes as a running service prints them, with its addresses. Flutter's is compiled by no program of npm or
 * Debian: test/oauth/recipes.test.ts reads its requests.
 */
describe.skipIf(!chromium)(`the recipe${skipReason}`, () => {
  const here = inChromium()
  const world = () => worldAt(here.service.port, here.atEnd)

  async function openRecipe(slug: string) {
    const response = await fetch(`http://localhost:${here.service.port}/docs/${slug}`)
    return printedFiles(await response.text())
  }
  async function writeFiles(directory: string, files: Record<string, string>) {
    for (const [name, text] of Object.entries(files)) {
      await mkdir(dirname(join(directory, name)), { recursive: true })
      await writeFile(join(directory, name), text)
    }
  }
  /** The words of the printed line that begins so, without `npm`. */
  const findWords = (commands: string, begin: string) =>
    commands
      .split('\n')
      .find((line) => line.startsWith(begin))!
      .split(' ')
      .slice(1)

  /** Runs npm; false where no registry answers. */
  const isInstalled = async (...call: Parameters<typeof npm>) =>
    npm(...call).then(
      () => true,
      (error: Error) => {
        if (offline.test(error.message)) return false
        throw error
      },
    )

  /** Until the tests end, at the port of the client's redirect URI. */
  async function serve(program: string[], client: Registered, cwd: string, env = {}) {
    const { port } = new URL(client.redirectUri)
    const { next } = world().launch([process.execPath, ...program, '--port', port], client, { cwd, env })
    while (!(await next()).includes(`localhost:${port}`));
  }

  it('for React signs a member in and out in the browser', async (ctx) => {
    const { files, commands } = await openRecipe('react')
    const shell = commands['a-page-in-the-browser']!
    const directory = await dataDirectory(here.atEnd)
    const app = join(directory, 'my-app')
    const created = await isInstalled(directory, '--yes', ...findWords(shell, 'npm create'))
    if (!created || !(await isInstalled(app, ...findWords(shell, 'npm install'))))
      return ctx.skip('No registry answers.')
    await isInstalled(app, 'install')
    await writeFiles(app, { 'src/main.jsx': files['src/main.jsx']! })
    const url = `http://localhost:${await freePort()}/`
    const client = await world().register({ redirectUri: url })
    await serve(['node_modules/vite/bin/vite.js'], client, app, { VITE_CLIENT_ID: client.id })

    const { page, complaints } = await here.visit(url)
    const signIn = page.getByRole('button', { name: 'Sign in with your club' })
    await signIn.click()
    await pick(page)
    await decide(page, 'refuse')
    await page.getByRole('status').getByText('the member refused').waitFor()
    await signIn.click()
    await decide(page, 'allow')
    await page.getByText(/^Hello \S+$/).waitFor()
    expect(page.url()).toBe(url)
    await page.reload()
    await page.getByText(/^Hello \S+$/).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await expect.poll(() => page.getByText('Hello').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('for Next.js keeps the tokens on the server, renews them, and ends the sign-in', async (ctx) => {
    const { files, commands } = await openRecipe('react')
    const shell = commands['nextjs-with-the-tokens-on-the-server']!
    const directory = await dataDirectory(here.atEnd)
    await writeFile(join(directory, 'package.json'), '{ "private": true }')
    // In place of create-next-app, which needs two minutes for what a linter and style sheets need.
    const created = await isInstalled(directory, 'install', 'next', 'react', 'react-dom')
    if (!created || !(await isInstalled(directory, ...findWords(shell, 'npm install'))))
      return ctx.skip('No registry answers.')
    const { 'src/main.jsx': _, ...own } = files
    const layout = 'export default ({ children }) => <html lang="en"><body>{children}</body></html>'
    await writeFiles(directory, { ...own, 'app/layout.js': layout })
    const APP_URL = `http://localhost:${await freePort()}`
    const client = await world().register({ server: true, redirectUri: `${APP_URL}/auth/callback` })
    const env = { SESSION_KEY: 'k'.repeat(64), APP_URL, NEXT_TELEMETRY_DISABLED: '1' }
    await serve(['node_modules/next/dist/bin/next', 'dev'], client, directory, env)

    const { page, context } = await here.visit(APP_URL)
    const signIn = page.getByRole('link', { name: 'Sign in with your club' })
    await signIn.click()
    await pick(page)
    await decide(page, 'refuse')
    await signIn.click()
    await decide(page, 'allow')
    const greeting = page.getByText(/^Hello \S+/)
    await greeting.waitFor()
    expect(page.url()).toBe(`${APP_URL}/`)
    // Nothing of it is a token in clear, and no script reads it.
    const readCookie = async () => (await context.cookies(APP_URL)).find(({ name }) => name === 'app')
    const first = await readCookie()
    expect(first).toMatchObject({ httpOnly: true, sameSite: 'Lax', path: '/' })
    expect(first?.value).toMatch(/^Fe26\.2\*/)
    expect(await page.content()).not.toMatch(/eyJ|refresh_token/)
    // What a refused token leads to.
    await page.goto(`${APP_URL}/auth/renew`)
    await greeting.waitFor()
    expect((await readCookie())?.value).not.toBe(first?.value)
    // A sign-in that this browser did not begin.
    const forged = await context.request.get(`${APP_URL}/auth/callback?code=none&state=none&iss=none`)
    expect(forged.status()).toBe(500)
    await page.reload()
    await greeting.waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await signIn.waitFor()
    // The stored tokens are of no use then.
    await context.addCookies([first!])
    const isEnded = async () => {
      await page.goto(APP_URL)
      return signIn.isVisible()
    }
    await expect.poll(isEnded).toBe(true)
    expect(await readCookie()).toBeUndefined()
  })

  describe('for React Native with Expo', () => {
    let directory: string
    let isThere = false
    beforeAll(async () => {
      directory = await dataDirectory(here.atEnd)
      await writeFile(join(directory, 'package.json'), '{ "type": "module" }')
      const packages = ['expo-auth-session', 'expo-secure-store', 'expo-modules-core', 'react', '@types/react']
      // Without React Native, which no line of it needs here.
      const { files, commands } = await openRecipe('react-native')
      const [, ...sdk] = findWords(Object.values(commands)[0]!, 'npm install')
      isThere = await isInstalled(directory, 'install', '--legacy-peer-deps', '--ignore-scripts', ...packages, ...sdk)
      await writeFiles(directory, files)
    })

    it('passes the compiler', async (ctx) => {
      if (!isThere) return ctx.skip('No registry answers.')
      const compilerOptions = {
        strict: true,
        noEmit: true,
        skipLibCheck: true,
        target: 'esnext',
        lib: ['dom', 'esnext'],
        module: 'preserve',
        moduleResolution: 'bundler',
        customConditions: ['react-native'],
        types: ['node'],
        typeRoots: [join(root, 'node_modules/@types')],
      }
      await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['club.ts'] }))
      const { stdout } = await run([join(root, 'node_modules/typescript/bin/tsc'), '-p', directory], {}).ended
      expect(stdout).toBe('')
    })

    interface Club {
      signIn(): Promise<void>
      signOut(): Promise<void>
      isSignedIn(): Promise<boolean>
      api: Client
    }
    const phone = globalThis as unknown as {
      secureStore: Map<string, string>
      openAuthSession: (url: string, back: string) => Promise<object>
    }

    it('signs a member in and out, renews after a start, and says nothing of a member when the sign-in has ended', async (ctx) => {
      if (!isThere) return ctx.skip('No registry answers.')
      const { register, signIn } = world()
      const { id } = await register({ type: 'native', redirectUri: 'org.example.boats:/callback' })
      const natives = join(import.meta.dirname, 'programs/expo-natives.mjs')
      const names = ['expo-constants', 'expo-crypto', 'expo-linking', 'expo-modules-core', 'expo-secure-store']
      const bundle = await rolldown({
        input: join(directory, 'club.ts'),
        platform: 'node',
        resolve: {
          alias: Object.fromEntries([...names, 'expo-web-browser', 'react-native'].map((name) => [name, natives])),
        },
        checks: { importIsUndefined: false },
        transform: { define: { 'process.env.EXPO_PUBLIC_CLIENT_ID': JSON.stringify(id) } },
      })
      const file = join(directory, 'club.mjs')
      await bundle.write({ file })
      let starts = 0
      const startApp = async (): Promise<Club> => import(`${pathToFileURL(file)}?${starts++}`)

      const club = await startApp()
      const isSignedOut = async ({ isSignedIn, api }: Club) => {
        const ended = { name: 'SignInNeeded', message: 'nobody is signed in' }
        await expect(api.me.profile()).rejects.toMatchObject(ended)
        expect(await isSignedIn()).toBe(false)
      }
      await isSignedOut(club)
      phone.openAuthSession = async () => ({ type: 'cancel' })
      await club.signIn()
      await isSignedOut(club)
      const opened: string[][] = []
      phone.openAuthSession = async (url, back) => {
        opened.push([new URL(url).searchParams.get('code_challenge_method')!, back])
        return { type: 'success', url: (await signIn(url)).href }
      }
      await club.signIn()
      expect(opened).toEqual([['S256', 'org.example.boats:/callback']])
      const member = { firstName: expect.any(String) }
      expect(await club.api.me.profile()).toMatchObject(member)
      expect(await club.isSignedIn()).toBe(true)
      await expect(club.api.me.groups()).rejects.toThrow('svc.me.groups:read')

      const stored = () => phone.secureStore.get('refresh-token')
      expect([...phone.secureStore.keys()]).toEqual(['refresh-token'])
      const before = stored()
      const again = await startApp()
      expect(await Promise.all([again.api.me.profile(), again.api.me.profile()])).toMatchObject([member, member])
      expect(stored()).not.toBe(before)

      const last = stored()!
      await again.signOut()
      await isSignedOut(again)
      phone.secureStore.set('refresh-token', last)
      await isSignedOut(await startApp())
      expect(phone.secureStore.size).toBe(0)
    })
  })
})

it('for React Native installs what its program imports', async () => {
  const text = await readFile(join(root, 'docs/recipes/react-native.md'), 'utf8')
  const [, installed] = /^npx expo install (.*)$/m.exec(text)!
  const imported = [...text.matchAll(/from '(expo-[\w-]+)'/g)].map(([, name]) => name)
  expect(installed!.split(' ')).toEqual(expect.arrayContaining(imported))
})
