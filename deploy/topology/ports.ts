import type { Compose } from './compose.ts'
import { freePort } from './program.ts'

export interface Ports {
  /** HAProxy's. */
  public: number
  internal: number
  redis: number
  /** Of nodes and worker, by service. */
  own: Record<string, { public: number; internal: number }>
}

export async function choosePorts({ services }: Compose): Promise<Ports> {
  const taken = new Set<number>()
  const choose = async (): Promise<number> => {
    const port = await freePort()
    if (taken.has(port)) return choose()
    taken.add(port)
    return port
  }
  const own: Ports['own'] = {}
  for (const name of Object.keys(services)) {
    if (/^node-|^worker$/.test(name)) own[name] = { public: await choose(), internal: await choose() }
  }
  return { public: await choose(), internal: await choose(), redis: await choose(), own }
}

/** haproxy.cfg with the addresses of this machine. Throws when it has other ones than the topology. */
export function haproxyConfig(text: string, { own, ...proxy }: Ports): string {
  const nodes = Object.entries(own).filter(([name]) => name.startsWith('node-'))
  const addresses: [string, string][] = [
    ['bind :8080', `bind 127.0.0.1:${proxy.public}`],
    ['bind :8081', `bind 127.0.0.1:${proxy.internal}`],
    ...nodes.flatMap(([name, ports]): [string, string][] => [
      [`${name}:3000 check port 3001`, `127.0.0.1:${ports.public} check port ${ports.internal}`],
      [`${name}:3000`, `127.0.0.1:${ports.public}`],
      [`${name}:3001`, `127.0.0.1:${ports.internal}`],
    ]),
  ]
  return addresses.reduce((config, [there, here]) => {
    if (!config.includes(there)) throw new Error(`haproxy.cfg has no ${there}`)
    return config.replaceAll(there, here)
  }, text)
}
