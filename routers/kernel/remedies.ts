import type { errors } from './errors.ts'
import type { Section } from './scopes.ts'

export type ErrorId = keyof typeof errors

/** Where an error is met. Its body has the form of that API. */
export type Place = 'every API' | Section | 'lms and notify' | 'tRPC'

type Remedy = `${Place}: ${string} → ${string}`

/** Why a client gets an error, and what to do. A type error here: each error of the catalogue needs its row. */
export const remedies: Record<ErrorId, Remedy> = {
  valueMissing: 'apps: The body has no field value, or is not an object. → Send {"value": …}. null is a value too.',
  valueNotAlone: 'apps: The body has another field beside value, or value twice. → Put everything inside value.',
  valueTooDeep: 'apps: More than 256 arrays and objects lie inside one another. → Store flatter data.',
  valueNotJson:
    'tRPC: A caller in process passed what JSON.stringify refuses. → Pass plain data: no BigInt, no circles.',
  bodyNotJson: 'every API: The body is not JSON in UTF-8. → Send the text that JSON.stringify makes.',
  bodyNotObject: 'lms and notify: The body is an array, a string or a number. → Send an object: {…}.',
  bodyTooDeep: 'lms and notify: The body is nested beyond any use. → Send the documented fields alone.',
  bodyTooLarge: 'lms and notify: The body has more than 1 MiB. → Send the address of a file, not the file.',
  bodyCutOff: 'every API: The connection ended before the body did. → Send again. Check Content-Length if it repeats.',
  requestInvalid:
    'every API: The request breaks the rules of HTTP: two Host headers, two lengths, odd bytes. → Use an HTTP library. Look at proxies that rewrite requests.',
  rangeTooLong:
    'apps: end is before start, or more than one calendar year after it. → Ask for a year at most, and for the next year after that.',
  answersInvalid:
    'lms: answers is missing, or is no object. → Send {"answers": {"<question id>": "…"}}; {} is allowed.',
  questionUnknown: 'lms: An id in answers is no question of this quiz. → Take the ids from the quiz that is answered.',
  answerMisfit:
    'lms: A choice of several needs an array of strings, every other question a string. → Look at the type of the question.',
  gradesInvalid:
    'tRPC: grades does not match the open questions. → Read the result, and send a boolean for each of them.',
  idempotencyKeyInvalid: 'lms: The header is empty, too long, or has spaces. → Use crypto.randomUUID().',
  urlInvalid:
    'notify: url is missing, not https, too long, or has a user name in it. → Send the public https address of the receiver.',
  secretInvalid:
    'notify: secret is empty, too long, or has characters that a header cannot carry. → Send 32 random bytes in base64, or leave secret out.',
  subscriberInvalid: 'tRPC: subscriber is empty, too long, or has control characters. → Send an id of the platform.',
  eventTypeInvalid: 'tRPC: The type of the event has other characters. → Name it as in member.joined.',
  eventIdInvalid: 'tRPC: The id of the event has spaces or other characters. → Send an id of the platform, or none.',
  dataMissing: 'tRPC: The event has no data. → Send data; {} is allowed.',
  dataNotJson: 'tRPC: data has what JSON.stringify refuses. → Pass plain data: no BigInt, no circles.',
  dataTooDeep: 'tRPC: More than 256 arrays and objects lie inside one another. → Send flatter data.',
  eventTooLarge: 'tRPC: The event has more than 256 KiB. → Send ids, and let receivers ask for the rest.',
  recordsRefused:
    'tRPC: Records do not fit; refused has the index, field and reason of each. → Mend these records and send the call again: nothing of it was stored.',
  teamUnknown:
    'tRPC: No such team, or its people do not include the caller. → Check the id. An owner can invite people.',
  ownerNeeded: 'tRPC: A developer of the team tried what is left to its owners. → Ask an owner of the team.',
  colleagueUnknown: 'tRPC: The person is not, or is no more, in the team. → List the people of the team.',
  invitationUnknown:
    'tRPC: The invitation was withdrawn, accepted or declined, has expired, or is of others. → Invite the person again.',
  ownAppUnknown: 'tRPC: The app is unknown, or of another team. → List the apps of the team.',
  clientUnknown: 'tRPC: The client is unknown, or of another team. → List the clients of the team.',
  providerUnknown: 'tRPC: No organisation of the kind provider has this id. → Ask the operator for the id.',
  emailInvalid: 'tRPC: email is no address. → Send the address alone, without a name.',
  registrationRefused:
    'tRPC: The registration breaks rules for names, redirects or scopes; the message has a line for each. → Mend what the lines name.',
  alreadyInTeam: 'tRPC: The person was invited before, and has joined. → Change the role instead.',
  lastOwner: 'tRPC: The team would have no owner left. → Make another person an owner first.',
  tooManyApps: 'tRPC: The team has 50 apps. → Remove one that is not used, or ask the operator.',
  tooManyClients: 'tRPC: The app has 20 clients. → Remove one that is not used.',
  teamFull:
    'tRPC: The apps and clients of the team are too many or too large. → Remove clients, redirect addresses or logos that are not used.',
  tooManyPeople: 'tRPC: The team has 100 people and invitations. → Remove people, or withdraw invitations.',
  changedMeanwhile: 'tRPC: Somebody else has saved since it was read. → Read it again, and repeat the change.',
  notSandbox: 'tRPC: The client is in production already, or has no app. → Ask for a sandbox client of an app.',
  confirmationWrong:
    'tRPC: Members would lose a consent, and confirm is not the id of the client. → Send its id as confirm.',
  webhookMissing: 'tRPC: The app has no webhook to send a test event to. → Set its address, then test.',
  testsLimited: 'tRPC: The app has sent 10 test events in a minute. → Wait for the seconds of Retry-After.',
  peopleLimited:
    'tRPC: In a minute a person makes 600 calls of developer.*, a team 2,400, and uploads 10 logos. → Wait for the seconds of Retry-After.',
  changesLimited:
    'tRPC: The people of the team have made 1000 changes in 24 hours. → Wait for the seconds of Retry-After.',
  eventTypeUnknown:
    'tRPC: No kind of event has this name. → Use webhook.test, or one that the page of the webhook in the portal lists.',
  tooManyEventKinds: 'tRPC: The catalogue of the provider has 100 kinds. → Take one out with events.undescribe.',
  sinceInvalid: 'tRPC: since is not a whole number of seconds. → Send seconds, not milliseconds.',
  ownDeliveryUnknown:
    'tRPC: The delivery is unknown, of another team, or removed after its time. → List the deliveries.',
  personUnknown: 'tRPC: No person has this id. → Check the id. The person may have been erased.',
  exportTooLarge: 'tRPC: The data does not fit into one answer. → Run the command on the server: it writes a file.',
  tokenMissing: 'every API: There is no Authorization header. → Send Authorization: Bearer and the access token.',
  tokenInvalid:
    'every API: The token is malformed, revoked, sent twice, or for another API; or the consent, the client or the app has ended. → Renew it once. If the new one is refused too, let the member sign in again.',
  tokenExpired:
    'every API: The time of the token is over; ours live for 10 minutes. → Renew it with the refresh token, then repeat the request.',
  scopeMissing:
    'every API: The member did not allow this scope, or the client is not registered for it. → Ask the member for it with a new sign-in. The granted scopes are in scope of the token response.',
  levelTooLow:
    'lms and notify: The team of the client has the Hobby level. → These APIs need the Developer membership.',
  clientNotFirstParty: 'tRPC: The client belongs to a team. → Use a client of the platform, with its credentials.',
  clientNotApp: 'apps: The client has no app, so it has no storage. → Use a client that is registered for an app.',
  memberUnknown:
    'every API: The member has left the organisation of the token, or it is of another kind. → Let the member sign in again and choose a club (apps), an academy (lms) or a provider (notify).',
  keyUnknown:
    'apps: The collection has no entry of this key in this scope. → Take it as empty. Entries of scope=org and scope=user are apart.',
  quizUnknown: 'lms: The quiz is unknown, a draft, or of another academy. → Check the id and the academy of the token.',
  resultUnknown: 'tRPC: The result is unknown, or of another academy. → Check the id and the academy of the token.',
  appUnknown:
    'notify: The app is unknown, or belongs to another team or provider. → Use an app of the team that the client belongs to.',
  subscriptionUnknown:
    'tRPC: The subscription is unknown, or of another provider. → List the subscriptions of the app.',
  deliveryUnknown:
    'tRPC: The delivery is unknown, of another provider, or removed after its time. → List the deliveries.',
  hostWrong: 'every API: The path belongs to another API. → Send the request to the host that the message names.',
  addressUnknown:
    'every API: The path does not exist. → Compare it with the reference. A slash at the end makes another path.',
  methodWrong: 'every API: The path exists, but not with this method. → Use a method that the Allow header names.',
  bodyTooSlow: 'every API: The body came at less than 32 KiB/s. → Send again over a better line, or send less at once.',
  quizClosed: 'lms: The quiz takes no more attempts. → Tell the member. Repeating does not help.',
  quizEmpty: 'lms: The quiz has no questions yet. → Tell the academy.',
  attemptsExhausted: 'lms: The member has used all attempts that the quiz allows. → Tell the member.',
  idempotencyMismatch:
    'lms: The key was used for other answers within 24 hours. → Use a new key for each attempt, and the same one only to repeat a request.',
  alreadyReviewed: 'tRPC: The result has no open questions, or was reviewed before. → Read the result again.',
  appSuspended:
    'notify: The platform has suspended the app. → Ask its operator. Requests go on being refused until then.',
  alreadyDelivered: 'tRPC: The receiver has accepted the delivery. → Nothing: it need not be sent again.',
  subscriptionEnded: 'tRPC: The subscription was removed, or its receiver answered 410. → Subscribe again.',
  entryChanged:
    'apps: Another writer was faster, or with If-None-Match: * the entry exists. → Read the entry again, apply the change to what is there now, and send it with the new ETag.',
  inputTooLarge: 'tRPC: The body of the call has more than 1 MiB. → Send less at once.',
  batchTooLarge: 'tRPC: The calls of the batch are too large together. → Send large values in calls of their own.',
  quotaExceeded:
    'apps: The value does not fit into what is left of the 10 MB of the app in this club. Nothing was stored. → Delete or shorten entries: X-Storage-Used and X-Storage-Limit tell the rest.',
  typeWrong:
    'every API: Content-Type is missing, not application/json, or of another charset; or the body is compressed. → Set Content-Type: application/json.',
  scopeInvalid: 'apps: scope is neither org nor user, or comes twice. → Send one of them, or leave it out for org.',
  nameInvalid:
    'apps: A collection or key is empty, longer than 64, or has other characters. → Encode names that members choose, for example as hex.',
  limitInvalid: 'apps: limit is no whole number from 1 to 200. → Ask for 200 at most, and go on with offset.',
  offsetInvalid: 'apps: offset is no whole number from 0. → Send digits alone: 0, 200, 400.',
  timeInvalid:
    'apps: start or end is not a whole number of seconds. → Send Math.floor(date / 1000): seconds, not milliseconds.',
  inputInvalid:
    'lms and notify: A part of the request has another type or is outside of its range; the message names it. → Compare it with the reference.',
  rateLimited:
    'every API: All clients of the team together made more requests than its level allows in a minute. → Wait for the seconds of Retry-After. Keep answers instead of asking again; test with a sandbox client.',
  failuresLimited:
    'every API: Many requests with invalid tokens came from this address. → Stop sending the refused token, wait for Retry-After, then renew.',
  internal: 'every API: A fault of this service. → Repeat later. Tell the operator the X-Request-Id if it stays.',
  unavailable:
    'every API: The database or the service is busy, or is being restarted. → Wait for Retry-After and repeat. The token is still good: keep it.',
}
