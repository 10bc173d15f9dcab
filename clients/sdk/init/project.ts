import { cp, mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

const templates = ['vanilla', 'react'] as const
type Template = (typeof templates)[number]

export interface Project {
  folder: string
  template: Template
  clientId: string
  issuer: string
  apps: string
}

export const isTemplate = (name: string): name is Template => (templates as readonly string[]).includes(name)

/** Throws when the folder contains anything, and then writes nothing. `sdk` is the folder of this package. */
export async function writeProject(sdk: string, { folder, template, ...settings }: Project): Promise<void> {
  if ((await namesIn(folder)).length > 0) {
    throw new Error(`The folder ${folder} is not empty, so nothing was written. Choose a new or an empty one.`)
  }
  await mkdir(folder, { recursive: true })
  for (const part of ['shared', template]) await cp(join(sdk, 'templates', part), folder, { recursive: true })
  // No template, as npm leaves files of this name out of a package.
  await writeFile(join(folder, '.gitignore'), '/node_modules/\n/dist/\n')
  await writeFile(join(folder, '.env'), renderEnv(settings))
  // The project's own copy, as long as no registry has the package.
  for (const part of ['package.json', 'README.md', 'dist', 'templates']) {
    const filter = (path: string) => !basename(path).startsWith('.')
    await cp(join(sdk, part), join(folder, 'sdk', part), { recursive: true, filter })
  }
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw new Error(`${folder} is not a folder.`, { cause: error })
    throw error
  }
}

const renderEnv = ({
  clientId,
  issuer,
  apps,
}: Omit<Project, 'folder' | 'template'>) => `# Vite puts these into the page.
VITE_CLIENT_ID=${clientId}
VITE_ISSUER=${issuer}
VITE_APPS=${apps}
`
