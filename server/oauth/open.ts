import { errors } from '../../routers/kernel/errors.ts'
import { issuerOf } from '../browser/addresses.ts'
import type { PageRoutes } from '../browser/page-routes.ts'
import { limitFailures } from '../http/failed-authentications.ts'
import type { Step } from '../http/state.ts'
import { AUDIENCE } from '../tokens/audience.ts'
import { createAuthenticate } from '../tokens/authenticate.ts'
import { principalOf } from '../tokens/claims.ts'
import type { TrustedIssuer } from '../tokens/verify.ts'
import type { MountOptions } from './mount.ts'
import { mountOauth } from './mount.ts'
import { openSigningKeys } from './signing-keys.ts'

type Addresses = Pick<MountOptions, 'authBaseUrl' | 'appsBaseUrl'>

interface Mounted {
  step: Step
  pages: PageRoutes
  trusted: TrustedIssuer
}

export interface Oauth extends Mounted {
  /** The same authorization server as an issuer at other addresses. */
  mountAt: (addresses: Addresses) => Mounted
  reload: () => Promise<void>
  /** When the current signing key began to sign, in Unix milliseconds. */
  signsSince: () => number
  close: () => void
}

export async function openOauth(
  options: Omit<MountOptions, 'keys' | 'authenticate'> & { onError: (error: unknown) => void },
): Promise<Oauth> {
  const keys = await openSigningKeys(options)
  const { now, clientAddress, limits } = options
  const mountAt = (addresses: Addresses): Mounted => {
    const trusted: TrustedIssuer = {
      keys: keys.verify,
      keySetVersion: keys.version,
      issuer: issuerOf(addresses.authBaseUrl),
      audience: AUDIENCE,
      principalOf(payload, header) {
        const { gid: grant, sub, ...claims } = payload
        // RFC 9068, 2.2: the subject of a token that a client has got for itself is the client.
        if (grant === undefined && sub === claims.client_id) return { ...principalOf(claims, header), ownToken: true }
        if (typeof grant !== 'string' || grant === '') throw errors.tokenInvalid()
        return { ...principalOf(payload, header), grant, ownToken: true }
      },
    }
    const authenticate = limitFailures(createAuthenticate([trusted], now), clientAddress, limits)
    return { ...mountOauth({ ...options, ...addresses, keys, authenticate }), trusted }
  }
  return {
    ...mountAt(options),
    mountAt,
    reload: keys.reload,
    signsSince: keys.signsSince,
    close: keys.close,
  }
}
