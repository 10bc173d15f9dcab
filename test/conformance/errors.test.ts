import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ApiError } from '../../routers/kernel/errors.ts'
import { errors } from '../../routers/kernel/errors.ts'
import { firstPartyScopes } from '../../routers/kernel/scopes.ts'
import { mintTeam } from '../developer/team.ts'
import { table } from '../support/markdown-table.ts'
import { platformClaims } from '../support/platform.ts'
import type { Reply } from '../support/request.ts'
import { id } from '../support/tenant.ts'
import type { World } from '../support/world.ts'
import type { Tenant } from './answers-tenant.ts'
import { startTenant } from './answers-tenant.ts'
import { formatName, listRows, places } from './collect-answers.ts'
import { provoke as provokeDocumented } from './provoke-answers.ts'

/**
 * The error tables of both documents and the errors that decisions.md adds. `Row` is the entry of routers/kernel/errors.ts. A
 * message that ends in … is a prefix. The table covers the whole catalogue.
 */
const rows = table<'Section' | 'Status' | 'Message' | 'Code' | 'Row' | 'Cause'>(`
  | Section | Status | Message                                                | Code | Row | Cause |
  |---|---|---|---|---|---|
  | apps   | 400 | value is missing.                                       | detail | valueMissing | PUT without a value field |
  | apps   | 400 | Send start and end as a range of at most a the service. | detail | rangeTooLong | me/events range too long |
  | apps   | 401 | This token is not valid.                                | invalid_token | tokenMissing | token missing |
  | apps   | 401 | This token is not valid.                                | invalid_token | tokenInvalid | token unknown |
  | apps   | 401 | This token has expired.                                 | invalid_token | tokenExpired | token expired |
  | apps   | 403 | This token does not carry the svc.me.events:read scope. | detail | scopeMissing | token lacks the scope of the endpoint |
  | apps   | 403 | This client is not a the service app.                   | detail | clientNotApp | client of the token belongs to no app |
  | apps   | 404 | This member does not exist in this club.                | detail | memberUnknown | member is no longer in the club |
  | apps   | 404 | This key does not exist.                                | detail | keyUnknown | unknown storage key |
  | apps   | 404 | This API answers at apps.test.                          | detail | hostWrong | request reached the wrong subdomain |
  | apps   | 413 | App storage quota exceeded.                             | detail | quotaExceeded | the quota is full |
  | apps   | 422 | scope is org or user.                                   | detail | scopeInvalid | any other value for scope |
  | apps   | 422 | Names use 1 to 64 letters, digits, '_' or '-'.          | detail | nameInvalid | invalid collection or key name |
  | apps   | 429 | The request quota is exhausted; try again in …          | rate_limited | rateLimited | request quota exhausted |
  | apps   | 400 | The body has exactly one field, value.                  | detail | valueNotAlone | another field beside value |
  | apps   | 400 | value is nested too deeply.                             | detail | valueTooDeep | 257 levels |
  | apps   | 400 | The body is not valid JSON.                             | detail | bodyNotJson | a body that is not JSON |
  | apps   | 404 | There is nothing at this address.                       | detail | addressUnknown | unknown path |
  | apps   | 405 | Use GET, HEAD here.                                     | detail | methodWrong | another method |
  | apps   | 403 | This entry belongs to another member.                   | detail | entryNotOwn | PUT into a collection that the app alone may write |
  | apps   | 400 | Idempotency-Key must be 1 to 255 visible ASCII characters. | detail | idempotencyKeyInvalid | a key with spaces |
  | apps   | 409 | This Idempotency-Key was already used with a different body. | detail | idempotencyMismatch | same key, other value |
  | apps   | 429 | A member can use at most 10000 Idempotency-Keys in a store in 24 hours; try again in … | rate_limited | keysLimited | 10,001st key of a day |
  | apps   | 412 | This entry has changed.                                 | detail | entryChanged | If-Match of another version |
  | apps   | 415 | Send the body as application/json.                      | detail | typeWrong | another content type |
  | apps   | 422 | limit is 1 to 200.                                      | detail | limitInvalid | limit 0 |
  | apps   | 422 | offset is 0 or more.                                    | detail | offsetInvalid | offset -1 |
  | apps   | 422 | start and end are Unix seconds.                         | detail | timeInvalid | start that is no integer |
  | sync   | 404 | This member does not exist in this club.                | not_found | memberUnknown | member is no longer in the club |
  | sync   | 404 | This API answers at sync.test.                          | not_found | hostWrong | request reached the wrong subdomain |
  | sync   | 422 | Names use 1 to 64 letters, digits, '_' or '-'.          | invalid_request | nameInvalid | after that is no name |
  | sync   | 422 | scope is org or user.                                   | invalid_request | scopeInvalid | any other value for scope |
  | sync   | 422 | This token has no member: scope is org.                 | invalid_request | scopeOrgOnly | scope user without a member |
  | sync   | 403 | Only the app itself can do this.                        | forbidden | appItselfNeeded | rules, read by a member |
  | sync   | 409 | An app can have rules for at most 100 collections.      | conflict too_many_rules | tooManyRules | rule for a 101st collection |
  | sync   | 429 | A team can make at most 1000 changes per day; try again in … | rate_limited | changesLimited | rule that is the 1,001st change of a day |
  | sync   | 400 | Idempotency-Key must be 1 to 255 visible ASCII characters. | invalid_request | idempotencyKeyInvalid | a key with spaces |
  | sync   | 409 | This Idempotency-Key was already used with a different body. | conflict idempotency_mismatch | idempotencyMismatch | same key, other operations |
  | sync   | 429 | A member can use at most 10000 Idempotency-Keys in a store in 24 hours; try again in … | rate_limited | keysLimited | 10,001st key of a day |
  | sync   | 404 | This member has no valid card.                          | not_found | cardUnknown | member without a card |
  | sync   | 404 | This service does not offer cards in this form.         | not_found | cardFormOff | code where members sign in elsewhere |
  | sync   | 422 | limit is 1 to 200.                                      | invalid_request | limitInvalid | limit 0 |
  | sync   | 422 | prefix has 1 to 64 letters, digits, '_' or '-'.         | invalid_request | prefixInvalid | prefix a.b |
  | sync   | 422 | values is true or false.                                | invalid_request | valuesInvalid | values that is neither |
  | sync   | 422 | wait is 0 to 50 seconds.                                | invalid_request | waitInvalid | wait 51 |
  | sync   | 400 | since is not a cursor of this collection.               | invalid_request | cursorInvalid | since that is no cursor |
  | sync   | 410 | This cursor has expired. Begin again without since.     | cursor_expired | cursorExpired | cursor of changes that are no longer stored |
  | sync   | 429 | Too many requests of this member, app or team already wait for changes. | rate_limited | waitsLimited | sixth request that waits |
  | sync   | 400 | operations is a list of 1 to 25 operations.             | invalid_request | operationsInvalid | no operations |
  | sync   | 400 | The body has exactly one field, operations.             | invalid_request | operationsNotAlone | another field beside operations |
  | sync   | 400 | Operation 0: An operation has op, collection and key, and may have scope, value, pointer, ifMatch and ifNoneMatch, each once. | invalid_request | operationInvalid | an operation with an unknown field |
  | sync   | 400 | Operation 0: op is put, merge, add, delete or get.      | invalid_request | opInvalid | an operation that is none |
  | sync   | 400 | Operation 0: value is missing.                          | invalid_request | valueMissing | put without a value |
  | sync   | 400 | Operation 0: Only put, merge and add have a value.      | invalid_request | valueUnexpected | get with a value |
  | sync   | 400 | Operation 0: value is nested too deeply.                | invalid_request | valueTooDeep | 257 levels |
  | sync   | 400 | Operation 0: add has a JSON pointer of at most 1024 characters, as /points; no other operation has one. | invalid_request | pointerInvalid | put with a pointer |
  | sync   | 400 | Operation 0: merge takes an object, and an entry that is an object or does not exist. | invalid_request | mergeNotObject | merge of a number |
  | sync   | 400 | Operation 0: An object has a name twice that the operation changes. | invalid_request | nameTwice | merge with a name twice |
  | sync   | 400 | Operation 0: add takes a number, and an entry with a number at its pointer. | invalid_request | notNumber | add of a text |
  | sync   | 400 | Operation 0: Numbers and sums have at most 40 digits, and exponents from -40 to 40. | invalid_request | numberTooLong | add of 1e41 |
  | sync   | 403 | Operation 0: This entry belongs to another member.      | forbidden | entryNotOwn | put into a collection that the app alone may write |
  | sync   | 412 | Operation 0: This entry has changed.                    | precondition_failed | entryChanged | ifMatch of another version |
  | sync   | 413 | The operations have more than 64 KiB beside their values. | invalid_request | operationsTooLarge | 66,000 bytes of white space |
  | sync   | 413 | What merge and add read and write is larger than 1 MiB together. | invalid_request | editsTooLarge | an entry that grows with each merge |
  | sync   | 413 | The entries that the batch reads are larger than the storage quota. | invalid_request | readsTooLarge | one entry many times |
  | sync   | 413 | App storage quota exceeded.                             | invalid_request | quotaExceeded | value beyond the quota |
  | trpc   | 413 | The body is larger than 1 MiB.                          | invalid_request | inputTooLarge | a body of 2 MiB over tRPC |
  | trpc   | 413 | The batch is too large. Send large values in separate requests. | invalid_request | batchTooLarge | a batch of two values of 1 MiB |
  | lms    | 400 | answers must be an object that maps question ids to answers. | invalid_request | answersInvalid | a required field is missing |
  | lms    | 400 | An answer does not match the type of its question.        | invalid_request | answerMisfit | a type does not fit |
  | lms    | 400 | The answers have more than 256 KiB of text together.   | invalid_request | answersTooLarge | answers of 300,000 bytes |
  | lms    | 400 | answers contains a question that is not in this quiz.  | invalid_request | questionUnknown | a reference points to nothing |
  | lms    | 400 | Idempotency-Key must be 1 to 255 visible ASCII characters.   | invalid_request | idempotencyKeyInvalid | a key with spaces |
  | lms    | 400 | The body is not a JSON object.                          | invalid_request | bodyNotObject | a body that is an array |
  | lms    | 400 | The body is nested too deeply.                          | invalid_request | bodyTooDeep | a body of 1,000 levels |
  | lms    | 400 | The body is larger than 1 MiB.                          | invalid_request | bodyTooLarge | a body of 2 MiB |
  | lms    | 403 | The Developer membership is needed for this API.        | missing_scope | levelTooLow | team of the Hobby level |
  | lms    | 404 | This quiz does not exist in this academy.               | not_found | quizUnknown | unknown quiz |
  | lms    | 409 | This quiz is closed.                                    | conflict quiz_closed | quizClosed | closed quiz |
  | lms    | 409 | This quiz has no questions.                             | conflict quiz_empty | quizEmpty | empty quiz |
  | lms    | 409 | All attempts at this quiz have been used.                  | conflict attempts_exhausted | attemptsExhausted | attempts used up |
  | lms    | 409 | This Idempotency-Key was already used with a different body.     | conflict idempotency_mismatch | idempotencyMismatch | same key, other body |
  | trpc   | 400 | grades must have exactly one boolean for each open question of the result. | invalid_request | gradesInvalid | grades that are an array |
  | sync   | 400 | since is not a cursor of this app's events.             | invalid_request | eventCursorInvalid | cursor of another app |
  | sync   | 404 | This app does not exist at this provider.               | not_found | appUnknown | app of another provider |
  | sync   | 400 | url must be an https:// address of at most 2048 characters, without user info. | invalid_request | urlInvalid | url that is http:// |
  | sync   | 400 | secret must be 1 to 1024 visible ASCII characters, without spaces. | invalid_request | secretInvalid | empty secret |
  | sync   | 400 | A url with another host or port needs a secret.         | invalid_request | secretNeeded | url of another host without a secret |
  | sync   | 400 | types must be null, or 1 to 50 event types of letters, digits, '.', '_' or '-'. | invalid_request | typesInvalid | address without a type |
  | sync   | 404 | This app has no such address.                           | not_found | eventAddressUnknown | unknown address |
  | sync   | 409 | An app can have at most 10 addresses, and its sandbox as many. | conflict too_many_addresses | tooManyAddresses | an 11th address |
  | sync   | 409 | This app is suspended.                                  | conflict app_suspended | appSuspended | client of a suspended app |
  | sync   | 404 | This quiz does not exist in this academy.               | not_found | quizUnknown | unknown quiz to read |
  | sync   | 409 | This quiz is closed.                                    | conflict quiz_closed | quizClosed | closed quiz to read |
  | sync   | 404 | This result does not exist in this academy.             | not_found | resultUnknown | unknown result |
  | trpc   | 404 | This result does not exist in this academy.             | not_found | resultUnknown | review of no result |
  | trpc   | 409 | This result is not awaiting review.                | conflict already_reviewed | alreadyReviewed | review of a graded result |
  | notify | 400 | url must be an https:// address of at most 2048 characters, without user info. | invalid_request | urlInvalid | url that is http:// |
  | notify | 400 | secret must be 1 to 1024 visible ASCII characters, without spaces. | invalid_request | secretInvalid | empty secret |
  | notify | 404 | This app does not exist at this provider.               | not_found | appUnknown | app of another provider |
  | notify | 409 | This app is suspended.                                  | conflict app_suspended | appSuspended | suspended app |
  | notify | 422 | id …                                                    | invalid_request | inputInvalid | malformed id on GET |
  | trpc   | 403 | This client does not belong to the platform.            | missing_scope | clientNotFirstParty | client of a team |
  | trpc   | 400 | subscriber must be 1 to 255 characters without control characters. | invalid_request | subscriberInvalid | empty subscriber |
  | trpc   | 404 | This subscription does not exist at this provider.      | not_found | subscriptionUnknown | removal of an unknown subscription |
  | trpc   | 400 | type must be 1 to 128 letters, digits, '.', '_' or '-'.      | invalid_request | eventTypeInvalid | event of the type a/b |
  | trpc   | 400 | id must be 1 to 255 visible ASCII characters.                | invalid_request | eventIdInvalid | event with a space in its id |
  | trpc   | 400 | data is missing.                                        | invalid_request | dataMissing | event without data |
  | trpc   | 400 | data is nested too deeply.                              | invalid_request | dataTooDeep | event of 257 levels |
  | trpc   | 400 | The event is larger than 256 KiB.                       | invalid_request | eventTooLarge | event of 256 KiB of data |
  | trpc   | 404 | This delivery does not exist at this provider.          | not_found | deliveryUnknown | retry of an unknown delivery |
  | trpc   | 404 | This person does not exist.                             | not_found | personUnknown | erasure of an unknown person |
  | trpc   | 409 | This delivery has already succeeded.                      | conflict already_delivered | alreadyDelivered | retry of a delivered delivery |
  | trpc   | 409 | This subscription has ended.                       | conflict subscription_ended | subscriptionEnded | retry in an ended subscription |
  | trpc   | 404 | This delivery does not exist.                           | not_found | ownDeliveryUnknown | a developer's retry of no delivery |
  | trpc   | 409 | This app has no webhook. Set its address first.         | conflict webhook_missing | webhookMissing | test event of an app without a webhook |
  | trpc   | 409 | This address is paused or has ended.                    | conflict address_ended | eventAddressEnded | test event to a paused address |
  | trpc   | 400 | type is not in the event catalogue.                     | invalid_request | eventTypeUnknown | test event of an unknown type |
  | trpc   | 400 | since must be Unix seconds.                                  | invalid_request | sinceInvalid | since that is negative |
  | trpc   | 400 | Nothing was stored: 1 record was refused.        | invalid_request | recordsRefused | record of no person |
`)

/** These need faults, floods, much data, a team or a caller in process: the other folders of test provoke them. */
const elsewhere = table<'Status' | 'Message' | 'Row'>(`
  | Status | Message | Row |
  |---|---|---|
  | 400 | email must be an e-mail address, such as name@example.org. | emailInvalid |
  | 400 | 7 | registrationRefused |
  | 403 | Only an owner of the team can do this. | ownerNeeded |
  | 403 | Teams cannot be created in this way here. | teamSignupClosed |
  | 404 | No request for a team is pending. | teamRequestUnknown |
  | 409 | A request for a team is already pending. | teamRequestPending |
  | 409 | A person can own at most 3 teams. | tooManyTeams |
  | 404 | This team does not exist. | teamUnknown |
  | 404 | This person is not in this team. | colleagueUnknown |
  | 404 | This invitation does not exist. | invitationUnknown |
  | 404 | This app does not exist. | ownAppUnknown |
  | 404 | This client does not exist. | clientUnknown |
  | 404 | This club does not exist. | clubUnknown |
  | 404 | This request for data does not exist. | dataRequestUnknown |
  | 404 | This provider does not exist. | providerUnknown |
  | 404 | This secret does not exist. | clientSecretUnknown |
  | 409 | This person is already in this team. | alreadyInTeam |
  | 409 | A team needs at least one owner. | lastOwner |
  | 409 | A team can have at most 50 apps. | tooManyApps |
  | 409 | An app can have at most 20 clients. | tooManyClients |
  | 409 | A team can have at most 200 clients, 1 MiB of text and 8 MiB of logos. | teamFull |
  | 409 | A team can have at most 100 people and invitations. | tooManyPeople |
  | 409 | A provider can describe at most 100 event types. | tooManyEventKinds |
  | 409 | This has been changed in the meantime. Read it again. | changedMeanwhile |
  | 409 | Only the sandbox client of an app can be requested for production. | notSandbox |
  | 409 | Only a web client can authenticate: a native app cannot protect a secret. | clientNotWeb |
  | 409 | A client can have at most two valid secrets. Remove one first. | tooManySecrets |
  | 409 | This client has no valid secret. Create one first. | secretMissing |
  | 409 | A production client that authenticates cannot become public again. | staysConfidential |
  | 409 | Confirm with the name. | nameNotConfirmed |
  | 409 | This team is being deleted. Restore the team first. | teamEnding |
  | 409 | 7 consents are in force and would end. Confirm with the client's id. | confirmationWrong |
  | 400 | value contains something that JSON cannot represent. | valueNotJson |
  | 400 | data contains something that JSON cannot represent. | dataNotJson |
  | 400 | The body ended early. | bodyCutOff |
  | 400 | The request is not valid HTTP. | requestInvalid |
  | 408 | The body arrived too slowly. | bodyTooSlow |
  | 413 | The result of this tool is larger than 256 KiB. | resultTooLarge |
  | 413 | This person has more than 16 MiB of data. Export it with member-apps member. | exportTooLarge |
  | 429 | Too many invalid tokens were sent from this address; try again in 7 s. | failuresLimited |
  | 429 | An address gets at most 10 test events per minute; try again in 7 s. | testsLimited |
  | 429 | A team can change its test club at most 60 times per hour; try again in 7 s. | testClubLimited |
  | 429 | Too many requests were made by this person or team; try again in 7 s. | peopleLimited |
  | 500 | Something went wrong on our side. | internal |
  | 503 | This service is not available right now. | unavailable |
`)

const tenant = {} as Tenant
const ends: (() => Promise<void>)[] = []
beforeAll(async () => {
  Object.assign(tenant, await startTenant((end) => void ends.unshift(end)))
  await tenant.world.call('PUT', '/storage/c/k', { body: { value: 1 } })
})
afterAll(async () => {
  for (const end of ends) await end()
})

type Provoke = (w: World) => Promise<Reply>

/** Calls a mutation over tRPC, as the platform's client by default; returns the error in the shape of the table. */
async function trpc(w: World, name: string, body: unknown, claims: object = platformClaims(w)): Promise<Reply> {
  const headers = { authorization: `Bearer ${await w.token({ ...claims })}` }
  const reply = await w.internal('POST', `/trpc/${name}`, { headers, body })
  const [{ error }] = [reply.body].flat()
  const { data, message } = error
  return { ...reply, body: { error: { code: data.error, reason: data.reason, message } } }
}
const publish = (w: World, more: object) => trpc(w, 'events.publish', { app: w.ids.app, type: 't', data: 1, ...more })

async function retry(w: World, delivery: { state: 'delivered' | 'failed' }, subscription: { endedAt?: Date }) {
  const [key, at, appId] = [id('delivery'), new Date(), w.ids.app]
  await w.db.subscription.create({ data: { id: key, appId, subscriber: 's', ...subscription } })
  await w.db.publishedEvent.create({ data: { id: key, appId, type: 't', body: '{}', publishedAt: at } })
  await w.db.delivery.create({
    data: { id: key, appId, eventId: key, subscriptionId: key, createdAt: at, ...delivery },
  })
  return trpc(w, 'deliveries.retry', { id: key })
}
/** Calls a procedure as a person who works on an app. */
async function asDeveloper(w: World, name: string, more: object) {
  const { app, person } = await mintTeam(w)
  return trpc(w, `developer.${name}`, { app, ...more }, { ...platformClaims(w), sub: person })
}
const review = (w: World, result: string, grades: unknown = {}) =>
  trpc(w, 'quizzes.review', { result, grades }, { ...platformClaims(w), organisation: w.ids.academy })

/** How to get each error that is no answer of a documented operation. */
const provoke: Record<string, Provoke> = {
  'unknown path': (w) => w.call('GET', '/nothing'),
  'a body of 2 MiB over tRPC': (w) => trpc(w, 'events.publish', JSON.stringify('x'.repeat(2 * 1024 * 1024))),
  'a batch of two values of 1 MiB': async (w) => {
    const body = JSON.stringify([0, 1].map(() => ({ collection: 'c', key: 'k', value: 'x'.repeat(1024 * 1024) })))
    return trpc(w, 'storage.put,storage.put?batch=1', body, {})
  },
  'grades that are an array': (w) => review(w, 'any', []),
  'review of no result': (w) => review(w, 'unknown'),
  'review of a graded result': async (w) => {
    const { body } = await w.call('POST', `/quizzes/open-${w.ids.academy}/results`, { body: { answers: {} } })
    return review(w, body.id)
  },
  'client of a team': (w) => trpc(w, 'subscriptions.remove', { id: 'x' }, { scope: firstPartyScopes.join(' ') }),
  'empty subscriber': (w) => trpc(w, 'subscriptions.create', { app: w.ids.app, subscriber: '' }),
  'removal of an unknown subscription': (w) => trpc(w, 'subscriptions.remove', { id: 'none' }),
  'event of the type a/b': (w) => publish(w, { type: 'a/b' }),
  'event with a space in its id': (w) => publish(w, { id: 'a b' }),
  'event without data': (w) => publish(w, { data: undefined }),
  'event of 257 levels': (w) => publish(w, { data: JSON.parse(`${'['.repeat(257)}${']'.repeat(257)}`) }),
  'event of 256 KiB of data': (w) => publish(w, { data: 'x'.repeat(256 * 1024) }),
  'erasure of an unknown person': (w) => trpc(w, 'directory.people.erase', { id: 'none' }),
  'retry of an unknown delivery': (w) => trpc(w, 'deliveries.retry', { id: 'none' }),
  'retry of a delivered delivery': (w) => retry(w, { state: 'delivered' }, {}),
  'record of no person': (w) => trpc(w, 'directory.people.upsert', { items: [{ id: '' }] }),
  "a developer's retry of no delivery": (w) => asDeveloper(w, 'deliveries.retry', { id: 'none' }),
  'test event of an app without a webhook': (w) => asDeveloper(w, 'webhook.test', {}),
  'test event to a paused address': async (w) => {
    const { app, person, api } = await mintTeam(w)
    const url = 'https://hooks.example'
    const { id: address } = await api.addresses.create({ app, environment: 'sandbox', url, types: null })
    await api.addresses.update({ app, id: address, state: 'paused' })
    return trpc(w, 'developer.webhook.test', { app, address }, { ...platformClaims(w), sub: person })
  },
  'test event of an unknown type': (w) => asDeveloper(w, 'webhook.test', { type: 'a.b' }),
  'since that is negative': (w) => asDeveloper(w, 'deliveries.retryFailed', { since: -1 }),
  'retry in an ended subscription': (w) => retry(w, { state: 'failed' }, { endedAt: new Date() }),
}

const usual = ['GET /me/events', 'GET /collections', 'POST /quizzes/{quizId}/results', 'GET /apps/{id}/webhook']

/** The operation of a section at which an error is provoked: the usual one, or else the first whose document names it. */
function findPlace(section: string, row: string) {
  const naming = places.filter((place) => place.section === section && listRows(place).includes(row))
  return naming.find((place) => usual.includes(formatName(place))) ?? naming[0]!
}

describe('the error catalogue', () => {
  it('is exactly the table', () => {
    expect(new Set([...rows, ...elsewhere].map((row) => row.Row))).toEqual(new Set(Object.keys(errors)))
  })

  it('is provoked completely', () => {
    expect(rows.filter(({ Row, Cause }) => !provoke[Cause] && !provokeDocumented[Row])).toEqual([])
  })

  it.each(elsewhere)('has these words: $Message', ({ Status, Message, Row }) => {
    const create = errors[Row as keyof typeof errors] as (given: unknown) => ApiError
    expect(create(7)).toMatchObject({ status: Number(Status), message: Message })
  })
})

describe.each(rows)('$Section $Status $Message', ({ Section, Status, Message, Code, Row, Cause }) => {
  it(`answers ${Cause}`, async () => {
    const own = provoke[Cause]
    const reply = await (own ? own(tenant.world) : provokeDocumented[Row]!(findPlace(Section, Row), tenant))
    expect(reply.status).toBe(Number(Status))
    expect(reply.headers['content-type']).toMatch(/^application\/json/)
    if (Section !== 'trpc') {
      const help = `</v1/docs/errors#${Row}>; rel="help"`
      expect(reply.headers).toMatchObject({ 'x-error-code': Row, link: help })
    }
    const message = Message.endsWith('…') ? expect.stringContaining(Message.slice(0, -1)) : Message
    if (Code === 'detail') {
      expect(reply.body).toEqual({ detail: message })
      return
    }
    const [code, reason] = Code.split(' ')
    if (Section === 'trpc') expect(reply.body.error).toEqual({ code, message, reason })
    else {
      const requestId = reply.headers['x-request-id']
      expect(reply.body).toEqual({ error: { code, message, request_id: requestId, ...(reason && { reason }) } })
    }
    if (Status === '429') expect(reply.headers['retry-after']).toMatch(/^([1-9]|[1-5]\d|60)$/)
    if (Status === '401') expect(reply.headers['www-authenticate']).toMatch(/^Bearer /)
  })
})
