/** The audience of the tokens we issue: all three sections. It does not depend on ports or base URLs. */
export const AUDIENCE = 'urn:member-apps-api'
