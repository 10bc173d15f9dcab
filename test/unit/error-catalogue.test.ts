import { describe, expect, it } from 'vitest'
import { documents } from '../../rest-facade/openapi.ts'
import { errorCatalogue, errors } from '../../routers/kernel/errors.ts'
import { sectionNames } from '../../routers/kernel/scopes.ts'

/** Documents, programs and bookmarks have links to these ids: add those of new errors, and never change or remove one. */
const ids = `
addressUnknown alreadyDelivered alreadyInTeam alreadyReviewed answerMisfit answersInvalid answersTooLarge appItselfNeeded appSuspended appUnknown
attemptsExhausted batchTooLarge bodyCutOff bodyNotJson bodyNotObject bodyTooDeep bodyTooLarge bodyTooSlow
cardFormOff cardUnknown changedMeanwhile changesLimited clientNotApp clientNotFirstParty clientNotWeb clientSecretUnknown clientUnknown clubUnknown colleagueUnknown confirmationWrong cursorExpired cursorInvalid dataMissing dataRequestUnknown
dataNotJson dataTooDeep deliveryUnknown editsTooLarge emailInvalid entryChanged entryNotOwn eventAddressEnded eventAddressUnknown eventCursorInvalid eventIdInvalid eventTooLarge eventTypeInvalid
eventTypeUnknown exportTooLarge failuresLimited gradesInvalid hostWrong idempotencyKeyInvalid idempotencyMismatch
inputInvalid inputTooLarge internal invitationUnknown keysLimited keyUnknown lastOwner levelTooLow limitInvalid memberUnknown
mergeNotObject methodWrong nameInvalid nameNotConfirmed nameTwice notNumber notSandbox numberTooLong offsetInvalid operationInvalid operationsInvalid operationsNotAlone
operationsTooLarge opInvalid ownAppUnknown ownDeliveryUnknown ownerNeeded peopleLimited personUnknown
pointerInvalid prefixInvalid providerUnknown questionUnknown quizClosed quizEmpty quizUnknown quotaExceeded rangeTooLong rateLimited readsTooLarge recordsRefused
registrationRefused requestInvalid resultTooLarge resultUnknown scopeInvalid scopeMissing scopeOrgOnly secretInvalid secretMissing secretNeeded sinceInvalid staysConfidential
subscriberInvalid subscriptionEnded subscriptionUnknown teamEnding teamFull teamRequestPending teamRequestUnknown teamSignupClosed teamUnknown testClubLimited testsLimited timeInvalid tokenExpired tokenInvalid
tokenMissing tooManyAddresses tooManyApps tooManyClients tooManyEventKinds tooManyPeople tooManyRules tooManySecrets tooManyTeams typesInvalid typeWrong unavailable urlInvalid valueMissing valueNotAlone
valueNotJson valuesInvalid valueUnexpected valueTooDeep waitInvalid waitsLimited webhookMissing
`
  .trim()
  .split(/\s+/)

describe('the error catalogue', () => {
  const rows = errorCatalogue()

  it('has the ids that were published, and each new one is written down', () => {
    expect(Object.keys(errors).sort()).toEqual([...ids].sort())
    expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort())
  })

  it.each(rows)('says why a client gets $id, and what to do', ({ cause, fix }) => {
    for (const text of [cause, fix]) {
      expect(text).toMatch(/^\S.{9,}[^.]\.$/)
      expect(text).not.toMatch(/→| {2}/)
    }
    expect(fix).not.toBe(cause)
  })

  it.each(sectionNames)('has as errors of %s those that its document has', (section) => {
    const documented = Object.values(documents()[section].paths)
      .flatMap((operations) => Object.values(operations))
      .flatMap(({ responses }) => Object.entries(responses))
      .filter(([status]) => status >= '400')
      .flatMap(([, { content }]) => Object.keys(content!['application/json'].examples!))
    const listed = rows.filter(({ place }) => place.split(/, | and /).includes(section)).map(({ id }) => id)
    const common = rows.filter(({ place }) => place === 'every API').map(({ id }) => id)
    // Assistants get it, whose endpoint is in no document.
    const own = listed.filter((id) => id !== 'resultTooLarge')
    expect(new Set([...common, ...own])).toEqual(new Set([...common, ...documented]))
  })

  it('is in the order of the statuses', () => {
    const statuses = rows.map(({ error }) => error.status)
    expect(statuses).toEqual([...statuses].sort((a, b) => a - b))
  })
})
