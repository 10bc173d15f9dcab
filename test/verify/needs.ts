import { spawnSync } from 'node:child_process'
import type { Part } from './parts.ts'

/** What a part needs and cannot be had here; undefined when all of it is there, programs having been installed. */
export function lackOf({ needs }: Pick<Part, 'needs'>, env: NodeJS.ProcessEnv): string | undefined {
  for (const need of needs) {
    if (need === 'root' && process.getuid?.() !== 0) return 'needs root'
    if (/^[A-Z_]+$/.test(need) && !env[need]) return `${need} is not set`
  }
  const programs = needs.filter((need) => need !== 'root' && !/^[A-Z_]+$/.test(need))
  if (programs.length === 0) return undefined
  const { status, stderr } = spawnSync('.ci/install', programs, { env, encoding: 'utf8' })
  return status === 0 ? undefined : stderr.trimEnd().split('\n').at(-1) || `needs ${programs.join(', ')}`
}
