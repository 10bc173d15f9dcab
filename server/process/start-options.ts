import type { Environment } from './config.ts'

/** The options of a start, in place of settings. */
export interface StartOptions {
  port?: string | undefined
  lan?: string | undefined
}

/** The settings that the options stand for. */
export const toSettings = ({ port, lan }: StartOptions, { INTERNAL_PORT }: Environment): Environment => ({
  ...(port !== undefined && { PORT: port, INTERNAL_PORT: INTERNAL_PORT || String(Number(port) + 1 || '') }),
  ...(lan !== undefined && { HOST: '0.0.0.0', LOCAL_HOST: lan }),
})
