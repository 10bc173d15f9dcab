import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { chromium, skipReason } from '../../oauth/chromium.ts'
import { expectAccessible } from '../../pages/accessible.ts'
import { command, dataDirectory, freePort, run, until } from '../../process/service.ts'
import { inChromium } from '../in-chromium.ts'
import { noteFigure } from '../noted-figure.ts'
import { decide, pick } from '../sign-in-pages.ts'
import { npm, offline } from './npm.ts'

const SCOPE = 'svc.me.profile:read svc.me.groups:read svc.apps.storage:read svc.apps.storage:write'
const NOTE = 'Bring the cake 🍰 <img src=x onerror=alert(1)>'

/** The last section of docs/first-app.md, with the packed SDK and outside of this repository. */
describe.skipIf(!chromium)(`the page that member-apps-sdk init writes${skipReason}`, () => {
  let directory: string
  const here = inChromium(async (_, atEnd) => {
    directory = await dataDirectory(atEnd)
    // Its programs are built; consumer.test.ts, which may run at the same time, builds the types.
    const root = join(import.meta.dirname, '../../..')
    const packed = await npm(root, 'pack', './clients/sdk', '--ignore-scripts', '--pack-destination', directory)
    await writeFile(join(directory, 'package.json'), '{}')
    await npm(directory, 'install', `./${packed.trim()}`)
    return {}
  })

  const toUrl = (api: string, path: string) => `http://${api}.localhost:${here.service.port}/v1${path}`

  /** The project and its client; `serve` runs Vite at the client's redirect URI. Undefined when no registry answers. */
  async function project(template: string) {
    const [folder, port] = [join(directory, template), await freePort()]
    const url = `http://localhost:${port}/`
    const names = ['--id', template, '--name', template, '--app', template, '--app-name', template]
    const owner = ['--team', template, '--team-name', template, '--level', 'developer', '--provider', 'provider']
    const add = ['add', ...names, ...owner, '--redirect', url, '--scope', SCOPE]
    expect(await command('client', add, here.env).ended).toMatchObject({ code: 0, stderr: '' })

    const addresses = ['--issuer', toUrl('auth', '/oauth'), '--apps', toUrl('apps', '')]
    const options = ['--client-id', template, '--template', template, ...addresses]
    await npm(directory, 'exec', 'member-apps-sdk', '--', 'init', template, ...options)
    try {
      await npm(folder, 'install', '--prefer-offline')
    } catch (error) {
      if (offline.test((error as Error).message)) return undefined
      throw error
    }
    const serve = async (...args: string[]) => {
      const program = join(folder, 'node_modules/vite/bin/vite.js')
      const vite = run([program, ...args, '--port', `${port}`], {}, { cwd: folder })
      const end = async () => {
        vite.child.kill('SIGKILL')
        await vite.ended
      }
      here.atEnd(end)
      await until(
        async () => vite.stdout() + vite.stderr(),
        (text) => text.includes(`localhost:${port}`),
      )
      return end
    }
    return { folder, url, serve }
  }

  /** As docs/first-app.md advises for the page's publication. */
  const policy = () => {
    const { origin } = new URL(toUrl('auth', ''))
    return {
      'content-security-policy': `default-src 'self'; img-src data:; connect-src ${origin} ${toUrl('apps', '/')}`,
    }
  }

  it.for(['vanilla', 'react'])('signs a member in, shows their groups and stores a note: %s', async (template, ctx) => {
    const began = performance.now()
    const made = await project(template)
    if (!made) return ctx.skip('No registry answers.')
    const { folder, url, serve } = made
    await npm(folder, 'run', 'build')
    await writeFile(join(folder, 'preview.mjs'), `export default { preview: { headers: ${JSON.stringify(policy())} } }`)
    const end = await serve('preview', '--strictPort', '--config', 'preview.mjs')

    const { page, complaints } = await here.visit(url)
    await signIn(page, 'anna', 'allow')
    await page.getByText('Hello Anna').waitFor()
    expect(page.url()).toBe(url)
    await expect.poll(() => items(page, 'Your groups')).toEqual(['Jugend U16', 'Seniors'])
    const seconds = (performance.now() - began) / 1000
    noteFigure({ name: `init to first own page: ${template}`, value: seconds, unit: 's', bound: 120 })
    expect(await items(page, 'Notes')).toEqual([])
    await page.getByLabel('New note').fill(NOTE)
    await page.getByRole('button', { name: 'Add' }).click()
    await expect.poll(() => items(page, 'Notes')).toEqual([NOTE])
    expect(await page.getByLabel('New note').inputValue()).toBe('')
    await page.reload()
    await expect.poll(() => items(page, 'Notes')).toEqual([NOTE])
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: 'Sign in with your club' }).waitFor()
    await expect.poll(() => page.getByText('Anna').count()).toBe(0)
    expect(complaints).toEqual([])

    const narrow = await here.visit(url, {
      bypassCSP: true,
      viewport: { width: 320, height: 640 },
      colorScheme: 'dark',
    })
    await narrow.page.getByRole('button', { name: 'Sign in with your club' }).waitFor()
    await expectAccessible(narrow.page)
    // Without the scope to write.
    await signIn(narrow.page, 'ben', 'allow', 'svc.apps.storage:write')
    await expect.poll(() => items(narrow.page, 'Notes')).toEqual([NOTE])
    await narrow.page.getByLabel('New note').fill('Mine')
    await narrow.page.getByRole('button', { name: 'Add' }).click()
    await alert(narrow.page, 'This token does not carry the svc.apps.storage:write scope.')
    expect(await narrow.page.getByLabel('New note').inputValue()).toBe('Mine')
    await expectAccessible(narrow.page)
    await narrow.page.reload()
    await expect.poll(() => items(narrow.page, 'Notes')).toEqual([NOTE])

    // What docs/first-app.md starts: without a build, and so without the policy.
    await end()
    const { scripts } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'))
    const [program, ...args] = scripts.dev.split(' ')
    expect(program).toBe('vite')
    await serve(...args)
    const draft = await here.visit(url)
    await signIn(draft.page, 'emil', 'refuse')
    await alert(draft.page, 'the member refused')
    await draft.page.getByRole('button', { name: 'Sign in with your club' }).waitFor()
  })
})

/** Begins on the page, and decides on the authorization server's pages. */
async function signIn(page: Page, member: string, decision: 'allow' | 'refuse', without?: string) {
  await page.getByRole('button', { name: 'Sign in with your club' }).click()
  await pick(page, member)
  if (without) await page.locator(`input[name=scope][value="${without}"]`).uncheck()
  await decide(page, decision)
}

const items = (page: Page, heading: string) => page.locator(`h2:text-is("${heading}") + ul > li`).allInnerTexts()
const alert = (page: Page, text: string) => page.getByRole('alert').getByText(text, { exact: true }).waitFor()
