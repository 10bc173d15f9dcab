import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { schemaDirectory } from './migration-files.ts'

/** The version of this service. */
export const release: string = JSON.parse(readFileSync(join(schemaDirectory(), '../package.json'), 'utf8')).version
