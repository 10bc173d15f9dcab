import { errors } from './oidc-provider.ts'

/** A client that is pending approval. Shown as a page, as its redirect addresses have not been approved either. */
export class ClientPendingApproval extends errors.UnauthorizedClient {
  override allow_redirect = false

  constructor() {
    super('this client is pending approval')
  }
}
