import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Without what npm tells its scripts of the project that they belong to. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^npm_(?!config_(registry|cache|userconfig)$)/i.test(name)),
)

/** Runs npm in a folder. Its errors name what failed; `offline` matches those that mean that no registry answers. */
export const npm = async (cwd: string, ...args: string[]) =>
  (await promisify(execFile)('npm', ['--no-audit', '--no-fund', ...args], { cwd, env })).stdout

export const offline = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENETUNREACH|ENOTCACHED/
