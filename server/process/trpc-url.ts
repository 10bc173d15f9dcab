import { isIPv6 } from 'node:net'
import { isEveryInterface } from './setting-rules.ts'

/** Where programs of the same machine or network call the internal port. */
export function toTrpcUrl(host: string, port: number): string {
  const isHere = isEveryInterface(host) || host === '127.0.0.1'
  const called = isIPv6(host) ? `[${host}]` : host
  return `http://${isHere ? 'localhost' : called}:${port}/trpc`
}
