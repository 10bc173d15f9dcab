import type { ApiError, PlainError } from './errors.ts'
import { errors } from './errors.ts'
import type { ErrorId, Place } from './remedies.ts'
import { remedies } from './remedies.ts'

/** An example of each parameterised error. */
const examples: Record<Exclude<ErrorId, PlainError>, ApiError> = {
  recordsRefused: errors.recordsRefused(1, [{ index: 0, field: 'person', reason: 'This person does not exist.' }]),
  registrationRefused: errors.registrationRefused('A client needs a redirect URI.', []),
  confirmationWrong: errors.confirmationWrong(3),
  testsLimited: errors.testsLimited(23),
  peopleLimited: errors.peopleLimited(23),
  changesLimited: errors.changesLimited(23),
  keysLimited: errors.keysLimited(23),
  scopeMissing: errors.scopeMissing('svc.apps.storage:write'),
  clientNotApp: errors.clientNotApp('the service'),
  memberUnknown: errors.memberUnknown('club'),
  hostWrong: errors.hostWrong('lms.example.org'),
  methodWrong: errors.methodWrong('GET, HEAD'),
  inputInvalid: errors.inputInvalid(422, "id must be 1 to 64 letters, digits, '_' or '-'."),
  rateLimited: errors.rateLimited(23),
  failuresLimited: errors.failuresLimited(23),
  internal: errors.internal(undefined),
  unavailable: errors.unavailable(),
}

export interface CatalogueRow {
  id: ErrorId
  error: ApiError
  place: Place
  cause: string
  remedy: string
}

export const errorCatalogue = (): CatalogueRow[] =>
  (Object.keys(errors) as ErrorId[])
    .map((id) => {
      const [, place, cause, remedy] = /^([^:]+): (.+) → (.+)$/.exec(remedies[id])!
      const error = id in examples ? examples[id as keyof typeof examples] : errors[id as PlainError]()
      return { id, error, place: place as Place, cause: cause!, remedy: remedy! }
    })
    .sort((one, other) => one.error.status - other.error.status)
