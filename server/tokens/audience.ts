/** The audience of tokens issued by this service: all sections. It does not depend on ports or base URLs. */
export const AUDIENCE = 'urn:member-apps-api'
