import { parseArgs } from 'node:util'
import type { Environment } from './config.ts'

const usage = `Usage: npm start -- [--port N] [--lan ADDRESS]

  --port N       the public port in place of PORT; unless INTERNAL_PORT is set, the internal one is N + 1
  --lan ADDRESS  for a trial: answers a phone in the same network, at this machine's address there (HOST, LOCAL_HOST)
`

/** The settings that the arguments of a program stand for. Throws for any other argument. */
export function settingsOf(argv: readonly string[], { INTERNAL_PORT }: Environment): Environment {
  try {
    const options = { port: { type: 'string' }, lan: { type: 'string' } } as const
    const { port, lan } = parseArgs({ args: [...argv], options }).values
    return {
      ...(port !== undefined && { PORT: port, INTERNAL_PORT: INTERNAL_PORT || String(Number(port) + 1 || '') }),
      ...(lan !== undefined && { HOST: '0.0.0.0', LOCAL_HOST: lan }),
    }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n\n${usage}`, { cause: error })
  }
}
