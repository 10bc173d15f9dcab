import { existsSync, readFileSync } from 'node:fs'

/** The compiled file is one directory deeper. */
const places = ['../../package.json', '../../../package.json'].map((path) => new URL(path, import.meta.url))

/** The release that runs. */
export const version: string = JSON.parse(readFileSync(places.find(existsSync)!, 'utf8')).version
