import type { Section } from '../../routers/kernel/scopes.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'
import type { State } from './state.ts'

/** RFC 9728, 3.1: a resource's path comes after the well-known path. */
export const RESOURCE_PATH = '/.well-known/oauth-protected-resource'

/** Below the base URL of sync: a resource of its own, whose document names it as the connector of an assistant does. */
export const MCP = '/mcp'
export const MCP_PATH = `/v1${MCP}`

interface Addresses {
  baseUrls: Record<Section, string>
  /** In the trial: paths of localhost. */
  localUrls?: Record<Section, string> | undefined
}

/** The address of the document of the API that a request is for; of `apps` for a request to another part of the service. */
export function resourceMetadata({ baseUrls, localUrls }: Addresses) {
  const toMetadataUrls = (urls: Record<Section, string>) =>
    new Map<Section, string>(
      sectionNames.map((section) => {
        const { origin, pathname } = new URL(urls[section])
        return [section, `${origin}${RESOURCE_PATH}${pathname}`]
      }),
    )
  const [own, local] = [toMetadataUrls(baseUrls), localUrls && toMetadataUrls(localUrls)]
  return ({ section, base, path }: Pick<State, 'section' | 'base' | 'path'>): string => {
    const url = (base !== undefined && local ? local : own).get(section ?? 'apps')!
    return section === 'sync' && path === MCP_PATH ? `${url}${MCP}` : url
  }
}

export type ResourceMetadata = ReturnType<typeof resourceMetadata>
