import { parseArgs } from 'node:util'
import type { Environment } from './config.ts'

const usage = `Usage: npm start -- [--port N]

  --port N  the public port in place of PORT; unless INTERNAL_PORT is set, the internal one is N + 1
`

/** The settings that the arguments of a program stand for. Throws for any other argument. */
export function settingsOf(argv: readonly string[], { INTERNAL_PORT }: Environment): Environment {
  try {
    const { port } = parseArgs({ args: [...argv], options: { port: { type: 'string' } } }).values
    if (port === undefined) return {}
    return { PORT: port, INTERNAL_PORT: INTERNAL_PORT || String(Number(port) + 1 || '') }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`, { cause: error })
  }
}
