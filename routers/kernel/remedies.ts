import type { errors } from './errors.ts'
import type { Section } from './scopes.ts'

export type ErrorId = keyof typeof errors

/** Where an error is met. Its body has the form of that API. */
export type Place =
  | 'every API'
  | Section
  | 'apps and sync'
  | 'apps, sync and lms'
  | 'lms and sync'
  | 'notify and sync'
  | 'lms and notify'
  | 'sync and tRPC'
  | 'tRPC'

type Remedy = `${Place}: ${string} → ${string}`

/** Why a client gets an error, and what to do. A type error here: each error of the catalogue needs its row. */
export const remedies: Record<ErrorId, Remedy> = {
  operationsInvalid:
    'sync: operations is missing, is no list, or has more than 25 operations or none. → Send {"operations": [{"op": …}]}, 25 at a time.',
  operationsNotAlone:
    'sync: The body has a field other than operations, or has operations twice. → Send operations alone.',
  operationInvalid:
    'sync: An operation is no object, has an unknown field or one twice, or a precondition that is not text. → Send an ETag with its quotation marks as ifMatch, and compare the names of the fields.',
  opInvalid: 'sync: The op of an operation is missing, or none of the three. → Send put, delete or get.',
  valueUnexpected: 'sync: A get or a delete has a value. → Remove the value, or send put.',
  valueMissing: 'apps and sync: The body, or a put of a batch, has no value. → Send {"value": …}; null is allowed.',
  valueNotAlone: 'apps: The body has a field other than value, or has value twice. → Put everything inside value.',
  valueTooDeep: 'apps and sync: Arrays and objects are nested more than 256 levels deep. → Store flatter data.',
  valueNotJson:
    'tRPC: An in-process caller passed a value that JSON.stringify rejects. → Pass plain data: no BigInt, no circular references.',
  bodyNotJson: 'every API: The body is not JSON in UTF-8. → Send the output of JSON.stringify.',
  bodyNotObject: 'lms and notify: The body is an array, a string or a number. → Send an object: {…}.',
  bodyTooDeep: 'lms and notify: The body is nested far too deeply. → Send only the documented fields.',
  bodyTooLarge: 'lms and notify: The body is larger than 1 MiB. → Send the address of a file, not the file itself.',
  bodyCutOff:
    'every API: The connection ended before the body was complete. → Send it again. Check Content-Length if this happens repeatedly.',
  requestInvalid:
    'every API: The request violates HTTP: two Host headers, two lengths, invalid bytes. → Use an HTTP library, and check proxies that rewrite requests.',
  cursorInvalid:
    'sync: The cursor is of another collection, scope, member or app, or was altered. → Use cursors as they came, each for its own collection and member.',
  eventCursorInvalid:
    'sync: The cursor is of another app, or was altered. → Use cursors as they came, each for its own app.',
  rangeTooLong:
    'apps: end is before start, or more than one calendar year after it. → Request at most a year at a time.',
  answersInvalid:
    'lms: answers is missing or not an object. → Send {"answers": {"<question id>": "…"}}; {} is allowed.',
  questionUnknown: 'lms: An id in answers does not belong to the quiz. → Use the ids of its questions.',
  answerMisfit: 'lms: A multiple choice question needs an array of strings, any other a string. → Check the type.',
  answersTooLarge:
    'lms: The answers to text questions, or those to all others, have more than 256 KiB. → Shorten them, or send the address of a file.',
  gradesInvalid:
    'tRPC: grades does not match the open questions. → Read the result, and send a boolean for each open question.',
  idempotencyKeyInvalid:
    'apps, sync and lms: The header is empty, too long, or contains spaces. → Use crypto.randomUUID().',
  urlInvalid:
    "notify: url is missing, not https, too long, or contains a user name. → Send the receiver's public https address.",
  secretInvalid:
    'notify: secret is empty, too long, or contains characters that are invalid in a header. → Send 32 random bytes in base64, or omit secret.',
  subscriberInvalid:
    "tRPC: subscriber is empty, too long, or contains control characters. → Send one of the platform's ids.",
  eventTypeInvalid: 'tRPC: The event type contains other characters. → Use a name such as member.joined.',
  eventIdInvalid:
    "tRPC: The event id contains spaces or other invalid characters. → Send one of the platform's ids, or none.",
  dataMissing: 'tRPC: The event has no data. → Send data; {} is allowed.',
  dataNotJson:
    'tRPC: data contains a value that JSON.stringify rejects. → Pass plain data: no BigInt, no circular references.',
  dataTooDeep: 'tRPC: Arrays and objects are nested more than 256 levels deep. → Send flatter data.',
  eventTooLarge: 'tRPC: The event is larger than 256 KiB. → Send ids, and let receivers fetch the rest.',
  recordsRefused:
    'tRPC: Some records are invalid; refused has the index, field and reason of each. → Correct these records and repeat the call: nothing was stored.',
  teamUnknown: 'tRPC: The team does not exist, or the caller is not in it. → Check the id. An owner can invite people.',
  ownerNeeded: 'tRPC: A developer of the team tried something that only its owners can do. → Ask an owner of the team.',
  colleagueUnknown: "tRPC: The person is not, or no longer, in the team. → List the team's people.",
  invitationUnknown:
    'tRPC: The invitation was withdrawn, accepted or declined, has expired, or is for someone else. → Invite the person again.',
  ownAppUnknown: "tRPC: The app is unknown, or belongs to another team. → List the team's apps.",
  clientUnknown: "tRPC: The client is unknown, or belongs to another team. → List the team's clients.",
  clientSecretUnknown:
    'tRPC: The secret was removed, or belongs to another client. → Get the client, which lists its secrets.',
  clubUnknown: 'tRPC: There is no club with this id. → Send the club to the directory first, or correct the id.',
  providerUnknown: 'tRPC: There is no provider with this id. → Ask the operator for the id.',
  emailInvalid: 'tRPC: email is not an e-mail address. → Send only the address, without a name.',
  registrationRefused:
    'tRPC: The registration breaks rules for names, redirects or scopes; the message has a line for each. → Correct what the lines name.',
  alreadyInTeam: "tRPC: The person was invited earlier and has joined. → Change the person's role instead.",
  lastOwner: 'tRPC: The team would be left without an owner. → Make another person an owner first.',
  tooManyApps: 'tRPC: The team has 50 apps. → Remove an unused one, or ask the operator.',
  tooManyClients: 'tRPC: The app has 20 clients. → Remove an unused one.',
  teamFull:
    'tRPC: The team has too many apps and clients, or they are too large. → Remove unused clients, redirect URIs or logos.',
  tooManyRules:
    'sync and tRPC: The app has rules for 100 collections. → Set the rule of one that needs none to anyone.',
  tooManyPeople: 'tRPC: The team has 100 people and invitations. → Remove people, or withdraw invitations.',
  changedMeanwhile: 'tRPC: Someone else has saved a change since it was read. → Read it again, and repeat the change.',
  notSandbox:
    "tRPC: The client is already in production, or has no app. → Request production for an app's sandbox client.",
  clientNotWeb:
    'tRPC: The client is a native app, whose users could read its secret. → Leave it public, or create a web client for your server.',
  tooManySecrets:
    'tRPC: The client has two secrets that have not expired. → Remove the one that your server no longer uses.',
  secretMissing:
    'tRPC: With client_secret the client needs a valid secret, and it has none. → Create one and store it on your server first.',
  staysConfidential:
    'tRPC: The client is in production and has a secret or keys. → Request a new production client for an app without a server.',
  confirmationWrong:
    "tRPC: Members would lose their consent, and confirm is not the client's id. → Send the client's id as confirm.",
  nameNotConfirmed: 'tRPC: An app or team is to be deleted, and confirm is not its name. → Send its name as confirm.',
  teamEnding: 'tRPC: The team of the app was deleted, and is removed soon. → Restore the team first.',
  webhookMissing: 'tRPC: The app has no webhook to send a test event to. → Set an address, then test.',
  testsLimited: 'tRPC: The app has sent 10 test events within a minute. → Wait for the seconds given in Retry-After.',
  keysLimited:
    'apps and sync: The member, or the app itself, has used 10,000 keys in this club within 24 hours. → Send keys with conditional writes alone, or wait for the seconds given in Retry-After.',
  waitsLimited:
    'sync: 5 requests of one member and app, 100 of the app itself, or 1,000 of a team, are waiting on this node. → Wait with one request per collection or app, and end those that nobody reads.',
  peopleLimited:
    'tRPC: The limits per minute are 600 calls of developer.* for a person, 2,400 for a team, and 10 logo uploads. → Wait for the seconds given in Retry-After.',
  changesLimited:
    'sync and tRPC: The people of the team, or its clients, have made 1000 changes in 24 hours. → Wait for the seconds given in Retry-After.',
  eventTypeUnknown:
    "tRPC: There is no event type with this name. → Use webhook.test, or a type listed on the portal's webhook page.",
  tooManyEventKinds: "tRPC: The provider's catalogue has 100 event types. → Remove one with events.undescribe.",
  sinceInvalid: 'tRPC: since is not a whole number of seconds. → Send seconds, not milliseconds.',
  ownDeliveryUnknown:
    'tRPC: The delivery is unknown, belongs to another team, or was removed after its retention period. → List the deliveries.',
  personUnknown: 'tRPC: There is no person with this id. → Check the id. The person may have been erased.',
  exportTooLarge:
    'tRPC: The data does not fit into one response. → Run the command on the server, which writes a file.',
  tokenMissing: 'every API: There is no Authorization header. → Send Authorization: Bearer with the access token.',
  tokenInvalid:
    'every API: The token is malformed, revoked, sent twice, or for another API; or the consent was withdrawn, the client removed or the app suspended. → Renew it once. If the new one is refused too, let the member sign in again.',
  tokenExpired:
    'every API: The token has expired; tokens of this service are valid for 15 minutes. → Renew it with the refresh token, then repeat the request.',
  scopeMissing:
    'every API: The member did not allow this scope, or the client is not registered for it. → Ask the member for it with a new sign-in. The scope field of the token response has the granted scopes.',
  levelTooLow: "lms and notify: The client's team has the Hobby level. → These APIs need the Developer membership.",
  clientNotFirstParty: "tRPC: The client belongs to a team. → Use one of the platform's clients, with its credentials.",
  clientNotApp:
    'apps and sync: The client has no app, and so no storage. → Use a client that is registered for an app.',
  appItselfNeeded:
    'sync: The token acts for a member, who cannot change the rules of the app. → Let the server of the app get a token with the grant type client_credentials.',
  entryNotOwn:
    "apps and sync: The app's team has chosen a rule for this collection, by which members change only entries that they made, or none. → Offer a member only their own entries to change. The team finds the rules in the portal, below Data.",
  memberUnknown:
    "every API: The member has left the token's organisation, or the organisation is of another kind. → Let the member sign in again and choose a club (apps), an academy (lms) or a provider (notify).",
  keyUnknown:
    'apps: The collection has no entry with this key in this scope. → Treat it as empty. Entries with scope=org and scope=user are separate.',
  quizUnknown:
    'lms and sync: The quiz is unknown, a draft, or belongs to another academy. → Check the id and the academy of the token.',
  resultUnknown:
    "sync: The result is unknown, another member's, or of another academy. → Check the id, and member and academy of the token.",
  appUnknown:
    "notify and sync: The app is unknown, or belongs to another team or provider. → Use an app of the client's own team, and a token for its provider.",
  subscriptionUnknown:
    "tRPC: The subscription is unknown, or belongs to another provider. → List the app's subscriptions.",
  deliveryUnknown:
    'tRPC: The delivery is unknown, belongs to another provider, or was removed after its retention period. → List the deliveries.',
  hostWrong: 'every API: The path belongs to another API. → Send the request to the host that the message names.',
  addressUnknown:
    'every API: The path does not exist. → Compare it with the reference. A trailing slash makes a different path.',
  methodWrong: 'every API: The path exists, but not with this method. → Use a method that the Allow header names.',
  bodyTooSlow:
    'every API: The body arrived at less than 32 KiB/s. → Send it again over a faster connection, or send less at once.',
  quizClosed: 'lms and sync: The quiz accepts no more attempts. → Inform the member. Retrying does not help.',
  quizEmpty: 'lms: The quiz has no questions yet. → Inform the academy.',
  attemptsExhausted: 'lms: The member has used all attempts that the quiz allows. → Inform the member.',
  idempotencyMismatch:
    'apps, sync and lms: The key was used for another request within 24 hours. → Use a new key for each write or attempt, and the same one only to repeat a request.',
  alreadyReviewed: 'tRPC: The result has no open questions, or has already been reviewed. → Read the result again.',
  appSuspended:
    'notify and sync: The platform has suspended the app. → Contact its operator. Requests are refused until the suspension ends.',
  alreadyDelivered: 'tRPC: The receiver has accepted the delivery. → Nothing to do: it need not be sent again.',
  subscriptionEnded: 'tRPC: The subscription was removed, or its receiver answered 410. → Subscribe again.',
  cursorExpired:
    'sync: The changes or events after this cursor are no longer stored: changes are kept for 30 days, 100,000 of a store. → Begin again without since. Changes then replace what you have; events are those that are still stored.',
  entryChanged:
    'apps and sync: Another writer was faster, or with If-None-Match: * the entry exists. → Read the entry again, apply the change to the current value, and send it with the new ETag.',
  inputTooLarge: "tRPC: The call's body is larger than 1 MiB. → Send less at once.",
  batchTooLarge: 'tRPC: The calls of the batch are too large together. → Send large values in separate calls.',
  operationsTooLarge:
    'sync: What is around the values of a batch is too large. → Remove white space and long lists of ETags.',
  readsTooLarge: 'sync: The values that the batch gets are too large together. → Get them in several batches.',
  quotaExceeded:
    "apps and sync: The value does not fit into the app's 10 MB or 1,000,000 entries in this club. Nothing was stored. → Delete or shorten entries: X-Storage-Used shows the bytes used.",
  typeWrong:
    'every API: Content-Type is missing, not application/json, or has another charset; or the body is compressed. → Set Content-Type: application/json.',
  scopeInvalid:
    'apps and sync: scope is neither org nor user, or occurs twice. → Send one of them, or omit it for org.',
  scopeOrgOnly:
    'sync: The token is of the app itself, which has shared entries alone. → Omit scope, or use the token of the member whose entries these are.',
  nameInvalid:
    'apps and sync: A collection or key is empty, longer than 64 characters, or contains other characters. → Encode names chosen by members, for example as hex.',
  waitInvalid: 'sync: wait is not a whole number from 0 to 50. → Wait for up to 50 seconds, then ask again.',
  limitInvalid:
    'apps and sync: limit is not a whole number from 1 to 200. → Request at most 200, and continue with offset (apps) or after (sync).',
  offsetInvalid: 'apps: offset is not a whole number of 0 or more. → Send digits only: 0, 200, 400.',
  prefixInvalid:
    'sync: prefix is empty, longer than a key, contains other characters, or occurs twice. → Send the first characters of a key, or omit it for all.',
  valuesInvalid: 'sync: values is neither true nor false, or occurs twice. → Send values=false for keys alone.',
  timeInvalid:
    'apps: start or end is not a whole number of seconds. → Send Math.floor(date / 1000): seconds, not milliseconds.',
  inputInvalid:
    'lms and notify: A part of the request has the wrong type or is out of range; the message names it. → Compare it with the reference.',
  rateLimited:
    "every API: The team's clients together made more requests than its level allows per minute. → Wait for the seconds given in Retry-After. Cache responses instead of repeating requests; test with a sandbox client.",
  failuresLimited:
    'every API: Many requests with invalid tokens came from this address. → Stop sending the refused token, wait for Retry-After, then renew the token.',
  internal:
    'every API: An error in this service. → Try again later. If it persists, report the X-Request-Id to the operator.',
  unavailable:
    'every API: The database or the service is busy or restarting. → Wait for Retry-After and repeat the request. The token is still valid: keep it.',
}
