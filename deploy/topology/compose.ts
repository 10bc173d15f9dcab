import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'

type Condition = 'service_started' | 'service_healthy' | 'service_completed_successfully'

/** What the topology reads of a service of compose.yaml; every value is text. */
export interface ComposeService {
  image?: string
  command?: string[]
  environment?: Record<string, string>
  env_file?: string
  depends_on?: Record<string, { condition: Condition }>
  profiles?: string[]
  stop_grace_period?: string
  read_only?: boolean
  restart?: string
  ports?: string[]
}

export interface Compose {
  services: Record<string, ComposeService>
  networks: Record<string, unknown>
}

export const deployed = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

export const readDeployed = (path: string) => readFile(deployed(path), 'utf8')

/** deploy/compose.yaml with these variables. Throws for a required one (`${NAME:?…}`) that is missing or empty. */
export async function readCompose(variables: Readonly<Record<string, string>>): Promise<Compose> {
  const text = await readDeployed('compose.yaml')
  return withTexts(parse(text, { merge: true }), (value) => interpolate(value, variables)) as Compose
}

/** As Docker Compose does: `${NAME}`, `${NAME:-default}`, `${NAME:?message}`, and `$$` for a dollar sign. */
export const interpolate = (text: string, variables: Readonly<Record<string, string>>) =>
  text.replace(/\$\$|\$\{([A-Z_]+)(?::([-?])([^}]*))?\}/g, (all, name: string, form?: string, rest = '') => {
    if (all === '$$') return '$'
    const value = variables[name]
    if (value) return value
    if (form === '?') throw new Error(`${name} is needed: ${rest}`)
    return form === '-' ? rest : ''
  })

/** The services without a profile, in stages: each depends on earlier ones only. */
export function inOrder({ services }: Compose): string[][] {
  const left = new Map(Object.entries(services).filter(([, { profiles }]) => profiles === undefined))
  const stages: string[][] = []
  while (left.size > 0) {
    const stage = [...left]
      .filter(([, { depends_on = {} }]) => Object.keys(depends_on).every((name) => !left.has(name)))
      .map(([name]) => name)
    if (stage.length === 0) throw new Error(`These services wait for each other: ${[...left.keys()].join(', ')}`)
    stages.push(stage)
    for (const name of stage) left.delete(name)
  }
  return stages
}

function withTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => withTexts(one, change))
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withTexts(one, change)]))
}
