// The contract in one pass: some 120 requests to a running service with the demo data, one after the other.
//   node .ci/smoke.mjs http://localhost:3000 [http://localhost:3001]
// With the address of the internal port it asks for the service's health as well. The built token command gives it tokens, so
// DATA_DIR is that of the service. Entries and the webhook are removed again; attempts at quizzes stay: no API removes them.
import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const JSON_TYPE = 'application/json; charset=utf-8'
const QUOTA_BYTES = 10_485_760
const DAY = 86_400
/** A request without an answer for so long has failed. */
const LIMIT_MS = 60_000

/** Member, organisation and client of each token, and further options of the command. */
const holders = {
  anna: ['anna', 'riverside', 'trainer-app'],
  ben: ['ben', 'riverside', 'trainer-app'],
  left: ['cara', 'riverside', 'trainer-app'],
  appless: ['anna', 'riverside', 'no-app'],
  hobby: ['ben', 'riverside', 'hobby-app'],
  sandbox: ['anna', 'riverside', 'trainer-app-sandbox'],
  narrow: ['anna', 'riverside', 'trainer-app', '--scope', 'svc.me.profile:read'],
  expired: ['anna', 'riverside', 'trainer-app', '--expires-in=-1'],
  learner: ['anna', 'academy', 'trainer-app'],
  outsider: ['emil', 'academy', 'trainer-app'],
  vendor: ['anna', 'provider', 'trainer-app'],
}

// Requests ------------------------------------------------------------------------------------------------------------

/** `GET apps /me/profile` is below the base address of an API, `GET @apps /v1/me/profile` at its host. */
const call = (line, as, { headers = {}, body } = {}) => ({ line, as, headers, body })
const get = (path, as = 'anna', headers) => call(`GET apps ${path}`, as, { headers })
const read = (path, as, headers) => get(`/storage/${path}`, as, headers)
const put = (path, body, headers) => call(`PUT apps /storage/${path}`, 'anna', { headers, body })
const remove = (path, headers) => call(`DELETE apps /storage/${path}`, 'anna', { headers })
const attempt = (quiz, answers, headers, as = 'learner') =>
  call(`POST lms /quizzes/${quiz}/results`, as, { headers, body: JSON.stringify({ answers }) })
const hook = (method, app, body) =>
  call(`${method} notify /apps/${app}/webhook`, 'vendor', { body: body && JSON.stringify(body) })
const tokenless = (line, headers, body) => call(line, null, { headers, body })

/** Bytes on a connection of their own, which the service closes. */
const bytes = (lines, body = '') => ({ bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`) })
const CLOSE = 'Connection: close'

// Expectations --------------------------------------------------------------------------------------------------------

const PART = Symbol('part')
/** An object that may have further fields. */
const part = (fields) => ({ [PART]: true, ...fields })
const a = (what, test) => ({ test, toString: () => what })
const sentence = a('a sentence', (value) => typeof value === 'string' && /\S.*\.$/.test(value))
const id = a('an id', (value) => typeof value === 'string' && value !== '')
const atHour = (hour) =>
  a(`a time at ${hour}:00 UTC`, (value) => Number.isInteger(value) && value % DAY === hour * 3600)

const json = (status, body, headers) => ({ status, body, headers: { 'content-type': JSON_TYPE, ...headers } })
const verbatim = (status, text, headers) => ({ status, text, headers: { 'content-type': JSON_TYPE, ...headers } })
const detail = (status, message, headers) => json(status, { detail: message }, headers)
/** The common shape; its `request_id` is that of the header. */
const error = (status, code, { message = sentence, reason, headers } = {}) =>
  json(
    status,
    ({ headers }) => ({ error: { code, message, request_id: headers['x-request-id'], ...(reason && { reason }) } }),
    headers,
  )
const unauthorized = (message, challenge = /^Bearer /) =>
  error(401, 'invalid_token', { message, headers: { 'www-authenticate': challenge } })
const conflict = (reason) => error(409, 'conflict', { reason })
const toMetadataUrl = (base) => base.replace(/(?<=\/\/[^/]+)\//, '/.well-known/oauth-protected-resource/')
const forbidden = (scope, base) => ({
  'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}", resource_metadata="${toMetadataUrl(base)}"`,
})
/** Not for pages of other origins. */
const page = (text) => ({
  status: 200,
  text,
  headers: { 'content-type': 'text/html; charset=utf-8' },
  sameOrigin: true,
})

/** The text of an entry, whose value is compared byte for byte. */
const entry = (key, value) => `{"key":"${key}","value":${value},"updatedAt":…}`
const stored = (key, value, headers) => verbatim(200, entry(key, value), { etag: /^"[^"]+"$/, ...headers })
const usage = (used) => ({ 'x-storage-used': String(used), 'x-storage-limit': String(QUOTA_BYTES) })
const usedIn = ({ headers }) => Number(headers['x-storage-used'])
const publicKeys = a(
  'keys without a private part',
  (keys) => keys?.length > 0 && keys.every((key) => key.kid && key.alg && !('d' in key) && !('k' in key)),
)
const removed = (headers) => ({ status: 204, text: '', headers: { 'content-type': undefined, ...headers } })

/** The same with further headers. */
const also = (expected, headers) => ({ ...expected, headers: { ...expected.headers, ...headers } })

const NOT_VALID = 'This token is not valid.'
const root = json(200, { api: 'apps', organisation: 'riverside' })
const noEntries = json(200, { items: [], total: 0 })
const noEntry = detail(404, 'This key does not exist.')
const noMember = detail(404, 'This member does not exist in this club.')
const changed = detail(412, 'This entry has changed.')
const quotaExceeded = detail(413, 'App storage quota exceeded.', usage(QUOTA_BYTES))
const badName = detail(422, "Names use 1 to 64 letters, digits, '_' or '-'.")
const badRequest = error(400, 'invalid_request')
const notFound = error(404, 'not_found')

// Values --------------------------------------------------------------------------------------------------------------

/** Nothing of it survives JSON.parse and JSON.stringify. */
const EXACT =
  '{"z":12345678901234567890,"a":1,"a":-0,"__proto__":{"x":1e400},"t":"\\u0000\\ud800\\/\\u00e9é","n":[ 1.0 ,2E-7,null]}'
const LARGE = `"${'Müller 𝄞 '.repeat(87_381)}"`
const value = (text) => `{"value":${text}}`
const nested = (depth) => value(`${'['.repeat(depth)}${']'.repeat(depth)}`)
const filler = (length) => `"${'x'.repeat(length - 2)}"`
const UNKNOWN_TAG = '"00000000-0000-4000-8000-000000000000"'

const today = Math.floor(Date.now() / 1000 / DAY) * DAY
const inAYear = Math.floor(new Date(today * 1000).setUTCFullYear(new Date(today * 1000).getUTCFullYear() + 1) / 1000)

const event = (id, title, location, start, end) => ({ id, title, location, start: atHour(start), end: atHour(end) })
const training = event('youth-training', 'Training U16', 'Halle 2', 16, 18)
const party = event('club-party', 'Sommerfest', 'Clubhouse', 15, 22)
const opening = event('open-calendar', 'Saisoneröffnung', 'Stadion am Fluss', 9, 17)
const camp = event('summer-camp', 'Summer camp', 'Camping am See', 8, 8)

const right = { q1: 'Green', q2: '4', q3: ['C', 'A'] }
const once = { 'idempotency-key': randomUUID() }
const result = (score, reviewStatus, gradedQuestions) =>
  json(201, { id, score, passed: reviewStatus === 'passed', reviewStatus, gradedQuestions })

const webhook = { url: 'https://Example.org/hook?a=1', secret: 's3cret' }
const plainWebhook = { url: 'https://example.org/' }

// The table -----------------------------------------------------------------------------------------------------------

/** Title, request, expectation. A request may be a function of the answer to the row before, an expectation of its own too. */
const rows = ({ hosts, bases, tokens }) => [
  ['GET / names the API and the club', get('/'), root],
  ['GET / answers without a slash', get(''), root],
  ['GET / answers a member who has left', get('/', 'left'), root],
  [
    'GET /me/profile has the fields of the document',
    get('/me/profile'),
    json(200, {
      id: 'anna',
      firstName: 'Anna',
      lastName: 'Berger',
      email: 'anna.berger@example.org',
      birthday: '1991-04-17',
      image: 'https://images.example.org/anna.jpg',
    }),
  ],
  [
    'GET /me/profile has null for no birthday and an empty text for no image',
    get('/me/profile', 'ben'),
    json(200, {
      id: 'ben',
      firstName: 'Ben',
      lastName: 'Okafor',
      email: 'ben.okafor@example.org',
      birthday: null,
      image: '',
    }),
  ],
  ['GET /me/profile is 404 for a member who has left', get('/me/profile', 'left'), noMember],
  ['GET /me/profile is 404 in an academy', get('/me/profile', 'learner'), noMember],
  [
    'GET /me/groups has both roles, by name',
    get('/me/groups'),
    json(200, {
      items: [
        { id: 'youth', name: 'Jugend U16', role: 'trainer' },
        { id: 'seniors', name: 'Seniors', role: 'member' },
      ],
    }),
  ],
  [
    'HEAD /me/groups answers as GET does, without a body',
    call('HEAD apps /me/groups', 'anna'),
    (_, last) => verbatim(200, '', { 'content-length': last.headers['content-length'] }),
  ],
  [
    'GET /me/events has the visible events of 90 days, by start',
    get('/me/events'),
    json(200, { items: [training, party, opening] }),
  ],
  [
    'GET /me/events takes a range of exactly a year',
    get(`/me/events?start=${today}&end=${inAYear}`),
    json(200, { items: [training, party, opening, camp] }),
  ],
  [
    'GET /me/events is 400 for a second more',
    get(`/me/events?start=${today}&end=${inAYear + 1}`),
    detail(400, 'Send start and end as a range of at most a the service.'),
  ],
  [
    'GET /me/events is 422 for a leading zero',
    get('/me/events?start=01'),
    detail(422, 'start and end are Unix seconds.'),
  ],
  [
    'GET /me/trainingplans counts exercises and names the group',
    get('/me/trainingplans'),
    json(200, {
      items: [
        {
          id: 'plan-strength',
          name: 'Strength basics',
          category: 'Strength',
          description: 'Twice a week, 40 minutes.',
          exerciseCount: 3,
          group: 'seniors',
        },
      ],
    }),
  ],
  [
    'GET /me/competitions has the own results, newest first',
    get('/me/competitions'),
    json(200, {
      items: [
        {
          id: 'result-away',
          competitionId: 'northgate-cup',
          competition: 'Northgate Cup',
          disciplineId: 'cup-long-jump',
          place: 1,
          score: 5.61,
          timestamp: atHour(11),
        },
        {
          id: 'result-hosted',
          competitionId: 'riverside-open',
          competition: 'Riverside Open',
          disciplineId: 'open-100m',
          place: 2,
          score: 12.84,
          timestamp: atHour(14),
        },
      ],
    }),
  ],
  [
    'GET /me/membercard has the card',
    get('/me/membercard'),
    json(200, {
      card: {
        serial: 'RS-2041-7',
        status: 'valid',
        valid: true,
        name: 'Anna Berger',
        memberNumber: '2041',
        departments: ['Leichtathletik', 'Swimming'],
        validUntil: /^\d{4}-12-31$/,
      },
    }),
  ],
  ['GET /me/membercard has null for no card', get('/me/membercard', 'ben'), json(200, { card: null })],

  ['GET of an unknown collection is empty', read('smoke'), noEntries],
  ['GET of an unknown key is 404', read('smoke/exact'), noEntry],
  [
    'PUT returns the entry with the time of the write',
    put('smoke/exact', value('[1]')),
    ({ began, ended }) => {
      const during = a(`${began} to ${ended}`, (seconds) => seconds >= began && seconds <= ended)
      return json(200, { key: 'exact', value: [1], updatedAt: during })
    },
  ],
  [
    'PUT returns a value byte for byte, without the space around it',
    put('smoke/exact', `{ "value" : \n${EXACT}\t}`),
    (_, last) => stored('exact', EXACT, usage(usedIn(last) - 3 + Buffer.byteLength(EXACT))),
  ],
  [
    'GET returns it byte for byte, with the same ETag',
    read('smoke/exact'),
    (_, last) => stored('exact', EXACT, { etag: last.headers.etag }),
  ],
  [
    'GET with If-None-Match is 304 without a body',
    ({ headers }) => read('smoke/exact', 'anna', { 'if-none-match': headers.etag }),
    (_, last) => ({ status: 304, text: '', headers: { etag: last.headers.etag } }),
  ],
  [
    'PUT with If-Match replaces the entry, with another ETag',
    ({ headers }) => put('smoke/exact', value('-0'), { 'if-match': headers.etag }),
    (_, last) => stored('exact', '-0', { etag: a('another ETag', (etag) => etag && etag !== last.headers.etag) }),
  ],
  [
    'PUT with the ETag of before is 412',
    ({ asked }) => put('smoke/exact', value('2'), { 'if-match': asked.headers['if-match'] }),
    changed,
  ],
  ['PUT with If-None-Match: * is 412 for an entry', put('smoke/exact', value('2'), { 'if-none-match': '*' }), changed],
  ['DELETE with another ETag is 412', remove('smoke/exact', { 'if-match': UNKNOWN_TAG }), changed],
  ['none of the refused writes has changed the entry', read('smoke/exact'), stored('exact', '-0')],
  ['GET with scope=user does not see the entry of the club', read('smoke/exact?scope=user'), noEntry],
  ["PUT with scope=user stores the member's own", put('smoke/exact?scope=user', value('1')), stored('exact', '1')],
  ["another member does not see the member's own", read('smoke?scope=user', 'ben'), noEntries],
  ['another member sees the entry of the club', read('smoke/exact', 'ben'), stored('exact', '-0')],
  ['PUT takes a value of 1 MB', put('smoke/large', value(LARGE)), stored('large', LARGE)],
  ['GET returns a value of 1 MB byte for byte', read('smoke/large'), stored('large', LARGE)],

  [
    'PUT with If-None-Match: * creates an entry',
    put('smoke-list/a', value('{"b":1,"a":2}'), { 'if-none-match': '*' }),
    stored('a', '{"b":1,"a":2}'),
  ],
  [
    'PUT takes a charset of UTF-8',
    put('smoke-list/_', value('null'), { 'content-type': 'application/json; charset=UTF-8' }),
    stored('_', 'null'),
  ],
  [
    'PUT takes a body in chunks',
    bytes(
      [
        ...['PUT /v1/storage/smoke-list/B HTTP/1.1', `Host: ${hosts.apps}`, `Authorization: Bearer ${tokens.anna}`],
        ...['Content-Type: application/json', 'Transfer-Encoding: chunked', CLOSE],
      ],
      '5\r\n{"val\r\n7\r\nue":1.0\r\n1\r\n}\r\n0\r\n\r\n',
    ),
    stored('B', '1.0'),
  ],
  [
    'GET lists a collection by the bytes of the keys',
    read('smoke-list'),
    verbatim(200, `{"items":[${entry('B', '1.0')},${entry('_', 'null')},${entry('a', '{"b":1,"a":2}')}],"total":3}`),
  ],
  [
    'GET lists a page, and the total of all',
    read('smoke-list?limit=1&offset=1'),
    verbatim(200, `{"items":[${entry('_', 'null')}],"total":3}`),
  ],
  ['a limit of 0 is 422', read('smoke?limit=0'), detail(422, 'limit is 1 to 200.')],
  ['a limit of 201 is 422', read('smoke?limit=201'), detail(422, 'limit is 1 to 200.')],
  ['an offset of -1 is 422', read('smoke?offset=-1'), detail(422, 'offset is 0 or more.')],
  ['another scope is 422', read('smoke?scope=club'), detail(422, 'scope is org or user.')],
  ['a name with a dot is 422', read('smoke/a.b'), badName],
  ['a name with an encoded slash is 422', read('smoke/a%2Fb'), badName],
  ['a name of 65 characters is 422', put(`${'n'.repeat(65)}/a`, value('1')), badName],
  ['a name of 64 characters is not', read(`${'n'.repeat(64)}/a`), noEntry],
  [
    // With a token: the parser of Node 20.19.0 takes these bytes, and the token is checked before the name.
    'a name in UTF-8 that is not percent-encoded is 422',
    bytes(['GET /v1/storage/smoke/é HTTP/1.1', `Host: ${hosts.apps}`, `Authorization: Bearer ${tokens.anna}`, CLOSE]),
    badName,
  ],

  ['a body without value is 400', put('smoke/exact', '{}'), detail(400, 'value is missing.')],
  ['an empty body is 400', put('smoke/exact', ''), detail(400, 'value is missing.')],
  [
    'a field beside value is 400',
    put('smoke/exact', '{"value":1,"more":2}'),
    detail(400, 'The body has exactly one field, value.'),
  ],
  ['a body that is not JSON is 400', put('smoke/exact', value('01')), detail(400, 'The body is not valid JSON.')],
  [
    'a body that is not UTF-8 is 400',
    put('smoke/exact', Buffer.from(value('"\xe9"'), 'latin1')),
    detail(400, 'The body is not valid JSON.'),
  ],
  ['257 arrays in one another are 400', put('smoke/exact', nested(257)), detail(400, 'value is nested too deeply.')],
  [
    'another content type is 415',
    put('smoke/exact', value('1'), { 'content-type': 'text/plain' }),
    detail(415, 'Send the body as application/json.'),
  ],
  [
    'a content encoding is 415',
    put('smoke/exact', value('1'), { 'content-encoding': 'gzip' }),
    detail(415, 'Send the body as application/json.'),
  ],
  ['none of the refused bodies was stored', read('smoke/exact'), stored('exact', '-0')],

  ['DELETE is 204 without a body', remove('smoke-list/a'), removed({ 'x-storage-limit': String(QUOTA_BYTES) })],
  [
    'DELETE with If-Match: * is 204, and says how full the store is',
    remove('smoke-list/B', { 'if-match': '*' }),
    (_, last) => removed(usage(usedIn(last) - 3)),
  ],
  [
    'PUT of a shorter value makes room',
    put('smoke-list/_', value('0')),
    (_, last) => stored('_', '0', usage(usedIn(last) - 3)),
  ],
  [
    'PUT fills the store to the last byte',
    (last) => put('smoke/rest', value(filler(QUOTA_BYTES - usedIn(last)))),
    (_, last) => stored('rest', filler(QUOTA_BYTES - usedIn(last)), usage(QUOTA_BYTES)),
  ],
  ['DELETE of an absent key is 404', remove('smoke-list/a'), noEntry],
  ['PUT of one byte more is 413', put('smoke/more', value('1')), quotaExceeded],
  ['PUT that is larger than the quota is 413', put('smoke/more', value(filler(QUOTA_BYTES + 65_536))), quotaExceeded],
  ['nothing of it was stored', read('smoke/more'), noEntry],
  [
    'PUT that does not grow is stored in a full store',
    put('smoke/exact', value('11')),
    stored('exact', '11', usage(QUOTA_BYTES)),
  ],

  ['a graded attempt that is all right passes', attempt('choice-quiz', right), result(100, 'passed', 3)],
  ['a graded attempt below the threshold fails', attempt('choice-quiz', { q1: 'Green' }), result(33.33, 'failed', 3)],
  [
    'an attempt with open questions waits for a review',
    attempt('open-quiz', { q1: 'Yes', q2: 'With a game.' }),
    result(100, 'pending_review', 1),
  ],
  ['an attempt with an Idempotency-Key is graded', attempt('choice-quiz', right, once), result(100, 'passed', 3)],
  [
    'the same key and body return the first answer',
    attempt('choice-quiz', right, once),
    (_, last) => verbatim(201, last.text),
  ],
  ['the same key with another body is 409', attempt('choice-quiz', {}, once), conflict('idempotency_mismatch')],
  ['an attempt without answers is 400', attempt('choice-quiz'), badRequest],
  ['an answer to an unknown question is 400', attempt('choice-quiz', { q9: 'x' }), badRequest],
  ['an answer of another type is 400', attempt('choice-quiz', { q1: ['Green'] }), badRequest],
  ['an unknown quiz is 404', attempt('none', {}), notFound],
  ['a quiz in draft is 404', attempt('unreleased-quiz', {}), notFound],
  ['a quiz of another academy is 404', attempt('other-quiz', {}), notFound],
  ['a closed quiz is 409', attempt('closed-quiz', {}), conflict('quiz_closed')],
  ['a quiz without questions is 409', attempt('empty-quiz', {}), conflict('quiz_empty')],
  ['an attempt of no member of the academy is 404', attempt('choice-quiz', {}, {}, 'outsider'), notFound],

  ['GET without a webhook has null', hook('GET', 'trainer-app'), json(200, { url: null, hasSecret: false })],
  [
    'PUT sets a webhook, and discards unknown fields',
    hook('PUT', 'trainer-app', { ...webhook, more: 1 }),
    json(200, { url: webhook.url, hasSecret: true }),
  ],
  [
    'GET returns the webhook without its secret',
    hook('GET', 'trainer-app'),
    json(200, { url: webhook.url, hasSecret: true }),
  ],
  [
    'PUT without a secret removes it',
    hook('PUT', 'trainer-app', plainWebhook),
    json(200, { ...plainWebhook, hasSecret: false }),
  ],
  ['PUT of an address with http is 400', hook('PUT', 'trainer-app', { url: 'http://example.org/' }), badRequest],
  ['PUT without an address is 400', hook('PUT', 'trainer-app', { secret: 's3cret' }), badRequest],
  ['PUT of an empty secret is 400', hook('PUT', 'trainer-app', { ...plainWebhook, secret: '' }), badRequest],
  ['DELETE of the webhook is 204', hook('DELETE', 'trainer-app'), removed()],
  ['DELETE without a webhook is 204', hook('DELETE', 'trainer-app'), removed()],
  ['GET of an app of another team is 404', hook('GET', 'hobby-app'), notFound],
  ['PUT to an app of another provider is 404', hook('PUT', 'foreign-app', plainWebhook), notFound],
  ['GET of a malformed id is 422', hook('GET', 'a.b'), error(422, 'invalid_request')],
  ['DELETE of a malformed id is 400', hook('DELETE', 'a.b'), badRequest],
  ['PUT to a suspended app is 409', hook('PUT', 'suspended-app', plainWebhook), conflict('app_suspended')],

  ['no token is 401', get('/me/profile', null), unauthorized(NOT_VALID)],
  ['no token is 401 on lms', attempt('choice-quiz', {}, {}, null), unauthorized(NOT_VALID)],
  [
    'a malformed token is 401',
    tokenless('GET apps /', { authorization: 'Bearer a.b.c' }),
    unauthorized(NOT_VALID, /^Bearer error="invalid_token"/),
  ],
  ['another scheme is 401', tokenless('GET apps /', { authorization: 'Basic YTpi' }), unauthorized(NOT_VALID)],
  ['an expired token is 401', get('/', 'expired'), unauthorized('This token has expired.')],
  ['the scheme may be in lower case', tokenless('GET apps /', { authorization: `bearer ${tokens.anna}` }), root],
  [
    'a token without the scope is 403, before the body is read',
    call('PUT apps /storage/smoke/exact', 'narrow', { body: '{' }),
    detail(
      403,
      'This token does not carry the svc.apps.storage:write scope.',
      forbidden('svc.apps.storage:write', bases.apps),
    ),
  ],
  [
    'a token without the scope is 403 on notify',
    call('GET notify /apps/trainer-app/webhook', 'narrow'),
    error(403, 'missing_scope', {
      message: 'This token does not carry the ntf.apps.webhook:read scope.',
      headers: forbidden('ntf.apps.webhook:read', bases.notify),
    }),
  ],
  [
    'a client without an app is 403 on storage',
    read('smoke', 'appless'),
    detail(403, 'This client is not a the service app.'),
  ],
  [
    'the limit of the team is in two headers',
    get('/'),
    also(root, { 'ratelimit-policy': '"team";q=10000;w=60', ratelimit: /^"team";r=\d{1,4};t=([1-9]|[1-5]\d|60)$/ }),
  ],
  [
    'a sandbox client has no limit',
    get('/', 'sandbox'),
    also(root, { 'ratelimit-policy': undefined, ratelimit: undefined }),
  ],
  [
    // At most twice 60: a minute that began before this run may end meanwhile.
    'the 61st request of a Hobby team in a minute is 429',
    { ...get('/', 'hobby'), until: 429, atMost: 122 },
    error(429, 'rate_limited', {
      headers: {
        'retry-after': /^([1-9]|[1-5]\d|60)$/,
        'ratelimit-policy': '"team";q=60;w=60',
        ratelimit: /^"team";r=0;t=([1-9]|[1-5]\d|60)$/,
      },
    }),
  ],

  ['an unknown path is 404', tokenless('GET apps /nothing'), detail(404, sentence)],
  ['an unknown path is 404 on lms', tokenless('GET lms /nothing'), notFound],
  ['a path with a slash at its end is another one', get('/me/profile/'), detail(404, sentence)],
  ['another method is 405', tokenless('POST apps /me/profile'), detail(405, sentence, { allow: 'GET, HEAD' })],
  [
    'another method is 405 on lms',
    tokenless('GET lms /quizzes/choice-quiz/results'),
    error(405, 'method_not_allowed', { headers: { allow: 'POST' } }),
  ],
  [
    'another host is 404 before the token is looked at',
    tokenless('GET @lms /v1/me/profile'),
    detail(404, `This API answers at ${hosts.apps}.`),
  ],
  [
    'another host is 404 on notify',
    tokenless('GET @apps /v1/apps/trainer-app/webhook'),
    error(404, 'not_found', { message: `This API answers at ${hosts.notify}.` }),
  ],
  [
    'a host may be in capitals, with another port',
    call('GET @apps /v1/', 'anna', { headers: { host: `${hosts.apps.split(':')[0].toUpperCase()}.:9` } }),
    root,
  ],
  [
    'OPTIONS is a preflight, without a token',
    tokenless('OPTIONS apps /storage/smoke/exact', {
      origin: 'https://app.example.org',
      'access-control-request-method': 'PUT',
    }),
    removed({
      allow: 'GET, HEAD, PUT, DELETE',
      'access-control-allow-methods': 'GET, HEAD, PUT, DELETE',
      'access-control-allow-headers': /(?=.*\bAuthorization\b)(?=.*\bContent-Type\b)(?=.*\bIdempotency-Key\b)/,
    }),
  ],
  [
    'pages of other origins may read the headers',
    get('/'),
    also(root, {
      'access-control-expose-headers': /(?=.*\bX-Request-Id\b)(?=.*\bETag\b)(?=.*\bRetry-After\b)/,
    }),
  ],
  [
    "X-Request-Id is the caller's own",
    tokenless('GET lms /nothing', { 'x-request-id': 'Smoke-1._' }),
    also(notFound, { 'x-request-id': 'Smoke-1._' }),
  ],
  [
    'X-Request-Id is another one where that is none',
    tokenless('GET lms /nothing', { 'x-request-id': 'not one' }),
    notFound,
  ],

  ['bytes that are not HTTP are 400', bytes(['garbage\0']), also(badRequest, { connection: 'close' })],
  [
    'a length beside chunks is 400',
    bytes(
      ['PUT /v1/storage/smoke/a HTTP/1.1', `Host: ${hosts.apps}`, 'Content-Length: 4', 'Transfer-Encoding: chunked'],
      '0\r\n\r\n',
    ),
    also(badRequest, { connection: 'close' }),
  ],
  ['no host is 400', bytes(['GET /v1/ HTTP/1.1', CLOSE]), badRequest],
  [
    'a header of 20 KB is 431',
    bytes(['GET /v1/ HTTP/1.1', `Host: ${hosts.apps}`, `X-Large: ${'x'.repeat(20_480)}`, CLOSE]),
    error(431, 'invalid_request'),
  ],
  [
    'two requests at once on a connection are answered in order',
    bytes(
      ['GET /v1/ HTTP/1.1', `Host: ${hosts.apps}`, `Authorization: Bearer ${tokens.anna}`],
      bytes(['GET /v1/nothing HTTP/1.1', `Host: ${hosts.apps}`, CLOSE]).bytes,
    ),
    [root, detail(404, sentence)],
  ],

  [
    'the authorization server has metadata',
    tokenless('GET @auth /.well-known/oauth-authorization-server/v1/oauth'),
    json(
      200,
      part({
        issuer: `http://${hosts.auth}/v1/oauth`,
        authorization_endpoint: `http://${hosts.auth}/v1/oauth/authorize`,
        token_endpoint: `http://${hosts.auth}/v1/oauth/token`,
        revocation_endpoint: `http://${hosts.auth}/v1/oauth/revoke`,
        jwks_uri: `http://${hosts.auth}/v1/oauth/jwks`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
      }),
    ),
  ],
  [
    'its keys are public ones',
    tokenless('GET @auth /v1/oauth/jwks'),
    json(200, { keys: publicKeys }, { 'content-type': 'application/jwk-set+json; charset=utf-8' }),
  ],
  [
    'the token endpoint refuses as RFC 6749 says',
    tokenless(
      'POST apps /oauth/token',
      { 'content-type': 'application/x-www-form-urlencoded' },
      'grant_type=refresh_token&client_id=none&refresh_token=none',
    ),
    json(401, { error: 'invalid_client', error_description: id }),
  ],
  [
    'the OpenAPI document names version, address and endpoints',
    tokenless('GET apps /openapi.json'),
    json(
      200,
      part({
        openapi: /^3\.1\./,
        servers: a(`${bases.apps} first`, (list) => list?.[0]?.url === bases.apps),
        paths: part({ '/me/profile': part({ get: part({}) }), '/storage/{collection}/{key}': part({ put: part({}) }) }),
      }),
    ),
  ],
  [
    'the OpenAPI document of notify has its endpoint',
    tokenless('GET notify /openapi.json'),
    json(200, part({ openapi: /^3\.1\./, paths: part({ '/apps/{id}/webhook': part({ put: part({}) }) }) })),
  ],
  [
    'the OpenAPI document of sync has its endpoints',
    tokenless('GET sync /openapi.json'),
    json(
      200,
      part({ openapi: /^3\.1\./, paths: part({ '/collections/{collection}/entries': part({ get: part({}) }) }) }),
    ),
  ],
  ['the reference is a page', tokenless('GET apps /docs'), page(/\/storage\/\{collection\}\/\{key\}/)],
  ['the errors are a page', tokenless('GET lms /docs/errors'), page(/id="tokenExpired"/)],
  ['the documentation is pages', tokenless('GET @base /docs'), page(/href="\/docs\/first-app"/)],
  ['the overview is a page', tokenless('GET @base /', { accept: 'text/html' }), page(/\/v1\/docs/)],
]

/** An answer of the internal port. */
const health = (body) => ({ ...json(200, body), sameOrigin: true })
const internalRows = [
  ['/healthz is 200', tokenless('GET @internal /healthz'), health({ status: 'ok' })],
  ['/readyz is 200', tokenless('GET @internal /readyz'), health({ status: 'ready' })],
]

// The service ---------------------------------------------------------------------------------------------------------

const [given, internal] = process.argv.slice(2)
if (!given) {
  process.stderr.write('Usage: node .ci/smoke.mjs http://localhost:3000 [http://localhost:3001]\n')
  process.exit(2)
}
const base = new URL(given)
const command = fileURLToPath(new URL('../dist/server/commands/main.js', import.meta.url))

async function tokenFor([member, club, client, ...more]) {
  const options = ['--member', member, '--club', club, '--client', client, ...more]
  const { stdout } = await promisify(execFile)(process.execPath, [command, 'token', ...options])
  return stdout.trim()
}

/**
 * The hosts of the APIs as the service names them, whether they are at paths of localhost as well, in the trial, and the base
 * addresses that are used.
 */
async function find() {
  const host = (name) => `${name}.localhost${base.port && `:${base.port}`}`
  for (const [where, path] of [
    [base.host, '/apps'],
    [host('apps'), ''],
  ]) {
    const { status, text } = await exchange(base, {
      method: 'GET',
      path: `${path}/v1/openapi.json`,
      headers: { host: where },
    })
    if (status !== 200) continue
    const servers = JSON.parse(text).servers.map(({ url }) => url)
    const ofHost = servers.find((url) => /^\w+:\/\/apps\b/.test(url))
    const local = path !== ''
    const own = local ? servers.find((url) => url.endsWith('/apps/v1')) : ofHost
    const names = ['apps', 'lms', 'notify', 'sync', 'auth']
    const ofEach = (url) => Object.fromEntries(names.map((name) => [name, url.replace(/\bapps\b/, name)]))
    const hosts = ofEach(new URL(ofHost).host)
    const bases = ofEach(own)
    return { hosts, bases, local }
  }
  throw new Error(`No member apps API answers at ${given}.`)
}

/** One request on a connection of its own. */
function exchange({ hostname, port }, { method, path, headers, body }) {
  return new Promise((resolve, reject) => {
    const began = Math.floor(Date.now() / 1000)
    const sent = request({ hostname, port: port || 80, method, path, headers, agent: false, timeout: LIMIT_MS })
    sent.on('timeout', () => sent.destroy(new Error(`no answer for ${LIMIT_MS / 1000} s`))).on('error', reject)
    sent.on('response', (response) => {
      const chunks = []
      response.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
      response.on('end', () => {
        const ended = Math.floor(Date.now() / 1000)
        const { statusCode: status, headers } = response
        resolve({ status, headers, text: Buffer.concat(chunks).toString(), began, ended })
      })
    })
    sent.end(body)
  })
}

/** Sends bytes as they are, and returns what is answered until the service closes the connection. */
function exchangeBytes(bytes) {
  return new Promise((resolve, reject) => {
    const chunks = []
    const socket = connect({ host: base.hostname, port: Number(base.port || 80) })
    socket.setTimeout(LIMIT_MS, () => socket.destroy(new Error(`no answer for ${LIMIT_MS / 1000} s`)))
    socket.on('data', (chunk) => chunks.push(chunk)).on('error', reject)
    socket.on('end', () => resolve(answersIn(Buffer.concat(chunks))))
    socket.write(bytes)
  })
}

function answersIn(received) {
  const answers = []
  for (let rest = received; rest.length > 0; ) {
    const end = rest.indexOf('\r\n\r\n')
    const [start, ...lines] = rest.toString('latin1', 0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => [line.split(':')[0].toLowerCase(), line.replace(/^[^:]*: */, '')]),
    )
    const next = end + 4 + Number(headers['content-length'] ?? 0)
    answers.push({ status: Number(start.split(' ')[1]), headers, text: rest.toString('utf8', end + 4, next) })
    rest = rest.subarray(next)
  }
  return answers
}

/** Sends the requests of the table: where each API is, and with whose token. */
function senderTo({ hosts, local }, tokens) {
  const send = ({ line, as, headers, body }) => {
    const [method, where, path] = line.split(' ')
    const name = where.replace('@', '')
    const isLocal = local && name === where
    const own = name === 'base' || isLocal ? base.host : hosts[name]
    const type = body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
    return exchange(name === 'internal' ? new URL(internal) : base, {
      method,
      body,
      path: name === where ? `${local ? `/${name}` : ''}/v1${path}` : path,
      headers: { ...(own && { host: own }), ...(as && { authorization: `Bearer ${tokens[as]}` }), ...type, ...headers },
    })
  }
  return async (asked) => {
    if (asked.bytes) {
      const answers = await exchangeBytes(asked.bytes)
      return answers.length === 1 ? answers[0] : answers
    }
    let answer = await send(asked)
    for (let n = 1; asked.until && answer.status !== asked.until && n < asked.atMost; n++) answer = await send(asked)
    return { ...answer, asked }
  }
}

// Comparing -----------------------------------------------------------------------------------------------------------

/** What an answer should be, and what of it is compared. */
function compared({ status, headers, text, body, sameOrigin }, answer, last) {
  const wanted = {
    'x-request-id': /^[A-Za-z0-9._-]{1,64}$/,
    ...(!sameOrigin && { 'access-control-allow-origin': '*' }),
    ...headers,
  }
  const expected = { status, headers: wanted }
  const came = {
    status: answer.status,
    headers: Object.fromEntries(Object.keys(wanted).map((name) => [name, answer.headers[name]])),
  }
  if (text !== undefined) {
    expected.text = text
    came.text = answer.text.replace(/"updatedAt":[1-9]\d{9}\}/g, '"updatedAt":…}')
  }
  if (body !== undefined) {
    expected.body = typeof body === 'function' ? body(answer, last) : body
    came.body = parsed(answer.text)
  }
  return [expected, came]
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Where two values differ, in words. */
function differences(expected, came, at) {
  const differs = () => [`${at} expected ${shown(expected)}, came ${shown(came)}`]
  if (typeof expected?.test === 'function') {
    return (expected instanceof RegExp && typeof came !== 'string') || !expected.test(came) ? differs() : []
  }
  if (typeof expected === 'string' && typeof came === 'string' && expected.length > 200)
    return differentText(expected, came, at)
  if (typeof expected !== 'object' || expected === null) return Object.is(expected, came) ? [] : differs()
  if (typeof came !== 'object' || came === null || Array.isArray(came) !== Array.isArray(expected)) return differs()
  const more = expected[PART] ? [] : Object.keys(came).filter((key) => !(key in expected))
  if (more.length > 0) return differs()
  return Object.keys(expected).flatMap((key) => differences(expected[key], came[key], at ? `${at}.${key}` : key))
}

/** Long texts are shown from where they begin to differ. */
function differentText(expected, came, at) {
  if (expected === came) return []
  let index = 0
  while (expected[index] === came[index]) index++
  const around = (text) => shown(text.slice(Math.max(0, index - 20), index + 40))
  return [`${at}, from character ${index}, expected …${around(expected)}, came …${around(came)}`]
}

function shown(value) {
  if (value === undefined) return 'nothing'
  if (typeof value?.test === 'function') return String(value)
  const text = JSON.stringify(value, (_, one) => (typeof one?.test === 'function' ? String(one) : one))
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

// The run -------------------------------------------------------------------------------------------------------------

/** Removes what rows have stored, and what an earlier run has left when it was ended. */
async function sweep(send) {
  for (const list of ['smoke', 'smoke-list'].flatMap((name) => [`${name}?scope=org`, `${name}?scope=user`])) {
    const [name, scope] = list.split('?')
    const { text } = await send(call(`GET apps /storage/${list}`, 'anna'))
    const keys = parsed(text).items ?? []
    for (const { key } of keys) await send(call(`DELETE apps /storage/${name}/${key}?${scope}`, 'anna'))
  }
  await send(hook('DELETE', 'trainer-app'))
}

/** The answer to a row's request and where it differs from what is expected. */
async function ask([, request, expectation], send, last) {
  if (!last && typeof request === 'function') return { wrong: ['the row before has no answer'] }
  try {
    const answer = await send(typeof request === 'function' ? request(last) : request)
    const expected = typeof expectation === 'function' ? expectation(answer, last) : expectation
    const pairs = Array.isArray(expected) ? expected.map((one, i) => [one, answer[i]]) : [[expected, answer]]
    return { answer, wrong: pairs.flatMap(([one, came]) => differences(...compared(one, came, last), '')) }
  } catch (error) {
    return { wrong: [error.message] }
  }
}

async function run() {
  const found = await find()
  const made = Object.entries(holders).map(async ([name, holder]) => [name, await tokenFor(holder)])
  const tokens = Object.fromEntries(await Promise.all(made))
  const send = senderTo(found, tokens)
  const table = [...rows({ ...found, tokens }), ...(internal ? internalRows : [])]
  let [failed, last] = [0, undefined]
  await sweep(send)
  for (const row of table) {
    const { answer, wrong } = await ask(row, send, last)
    last = answer
    if (wrong.length === 0) continue
    failed++
    process.stdout.write(`FAILED ${row[0]}: ${wrong.join('; ')}\n`)
  }
  await sweep(send)
  process.stdout.write(`${table.length - failed} passed, ${failed} failed\n`)
  return failed
}

try {
  process.exitCode = (await run()) === 0 ? 0 : 1
} catch (error) {
  process.stdout.write(`${error.message}\n`)
  process.exitCode = 1
}
