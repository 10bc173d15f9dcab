import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setPageHeaders } from '../browser/send-page.ts'
import { onlyGet } from '../browser/stored-file.ts'
import { computeTag, isRevalidated } from '../http/revalidation.ts'
import type { Step } from '../http/state.ts'

/** The files as `npm pack` names them, with their version. */
const names: Readonly<Record<string, RegExp>> = {
  '/sdk.tgz': /^member-apps-sdk-(\d.*)\.tgz$/,
  '/first-party.tgz': /^member-apps-client-(\d.*)\.tgz$/,
}

/** Where the build puts them. Searches upwards, as for the migrations: this file may be in dist/chunks. */
export function packagesDirectory(): string | undefined {
  for (let directory = dirname(fileURLToPath(import.meta.url)); ; directory = dirname(directory)) {
    const found = join(directory, 'dist/packages')
    if (existsSync(found)) return found
    if (directory === dirname(directory)) return undefined
  }
}

/** Serves the packages for apps at every host, as the documentation: `npm install <address>/sdk.tgz`. */
export function packages(directory = packagesDirectory()): Step {
  /** Read at first use: 75 kB in all. */
  const read = new Map<string, { name: string; etag: string; bytes: Buffer }>()
  const fileAt = (path: string) => {
    const known = read.get(path)
    if (known || directory === undefined || !Object.hasOwn(names, path)) return known
    const name = readdirSync(directory).find((file) => names[path]!.test(file))
    if (name === undefined) return undefined
    const bytes = readFileSync(join(directory, name))
    const file = { name, etag: `"${names[path]!.exec(name)![1]}-${computeTag(bytes)}"`, bytes }
    read.set(path, file)
    return file
  }
  return (ctx, next) => {
    const { path } = ctx.state
    const file = fileAt(path)
    if (!file) return next()
    ctx.state.operation = 'docs'
    ctx.state.address = path
    onlyGet(ctx)
    setPageHeaders(ctx)
    if (isRevalidated(ctx, file.etag)) return
    ctx.attachment(file.name)
    ctx.type = 'application/gzip'
    ctx.body = file.bytes
  }
}
