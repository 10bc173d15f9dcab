import { errors } from '../../routers/errors.ts'
import type { Step } from '../http/state.ts'
import { AUDIENCE } from '../tokens/audience.ts'
import { principalOf } from '../tokens/claims.ts'
import type { TrustedIssuer } from '../tokens/verify.ts'
import { openKeys } from './keys.ts'
import type { MountParts } from './mount.ts'
import { issuerOf, mountOauth } from './mount.ts'

export interface Oauth {
  /** Answers what is asked of the authorization server. */
  step: Step
  /** Trusts its access tokens. */
  trusted: TrustedIssuer
  /** Looks for new keys now. */
  reload: () => Promise<void>
  close: () => void
}

/** The authorization server, its keys opened. */
export async function openOauth(
  parts: Omit<MountParts, 'keys'> & { onError: (error: unknown) => void },
): Promise<Oauth> {
  const keys = await openKeys(parts)
  return {
    step: mountOauth({ ...parts, keys }),
    trusted: {
      keys: keys.verify,
      issuer: issuerOf(parts.authBaseUrl),
      audience: AUDIENCE,
      principalOf(payload, header) {
        const { gid: grant } = payload
        if (typeof grant !== 'string' || grant === '') throw errors.tokenInvalid()
        return { ...principalOf(payload, header), grant }
      },
    },
    reload: keys.reload,
    close: keys.close,
  }
}
