import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { annaIn, command, externalSettings, issueToken, launch, readLog, run, send, start, until } from './service.ts'

/** Whatever a request holds that is not for the log has this in it. */
const CANARY = 'canary4711'

describe('the log', () => {
  it('has one line of JSON per request, without token, secret, value, key or query', async () => {
    const env = { ...(await externalSettings()), NODE_ENV: 'production', DEVELOPMENT_TOKENS: 'true' }
    await command('seed', ['--yes'], env).ended
    const service = await start(env)
    const clubs = ['riverside', 'academy', 'provider']
    const tokens = await Promise.all(clubs.map((club) => issueToken(env, ...annaIn(club))))
    const [ofClub, ofAcademy, ofProvider] = tokens as [string, string, string]
    const { port, internalPort } = service
    let sent = 0
    const call = async (
      status: number,
      [method, host, path]: [string, string, string],
      bearer: string,
      body?: unknown,
      headers: Record<string, string> = {},
    ) => {
      const answer = await send(host === 'internal' ? internalPort : port, method, path, {
        headers: {
          host: `${host}.localhost`,
          authorization: `Bearer ${bearer}`,
          'x-request-id': `r${sent}`,
          ...headers,
        },
        body,
      })
      expect([path, answer.status, answer.text]).toEqual([path, status, expect.anything()])
      sent++
    }

    const entry = '/v1/storage/notes/entry'
    await call(200, ['PUT', 'apps', entry], ofClub, { value: CANARY })
    await call(200, ['GET', 'apps', `${entry}?scope=org&unknown=${CANARY}`], ofClub)
    await call(200, ['GET', 'apps', `/v1/storage/notes?unknown=${CANARY}`], ofClub)
    await call(422, ['GET', 'apps', `${entry}?scope=${CANARY}`], ofClub)
    await call(400, ['PUT', 'apps', entry], ofClub, { value: { [CANARY]: 1 }, [CANARY]: CANARY })
    await call(400, ['PUT', 'apps', entry], ofClub, { [CANARY]: CANARY })
    await call(412, ['PUT', 'apps', entry], ofClub, { value: CANARY }, { 'if-match': `"${CANARY}"` })
    await call(415, ['PUT', 'apps', entry], ofClub, { value: CANARY }, { 'content-type': CANARY })
    await call(401, ['GET', 'apps', '/v1/me/profile'], `${CANARY}.${CANARY}.${CANARY}`)
    await call(401, ['GET', 'apps', '/v1/me/profile'], `${ofClub.slice(0, -5)}AAAAA`)
    await call(404, ['GET', 'apps', `/v1/nothing?token=${CANARY}`], ofClub)
    const attempt = { answers: { q2: CANARY } }
    const keyed = { 'idempotency-key': CANARY }
    await call(201, ['POST', 'lms', '/v1/quizzes/open-quiz/results'], ofAcademy, attempt, keyed)
    await call(409, ['POST', 'lms', '/v1/quizzes/open-quiz/results'], ofAcademy, { answers: { q2: '' } }, keyed)
    const webhook = { url: `https://example.org/${CANARY}`, secret: CANARY }
    await call(200, ['PUT', 'notify', '/v1/apps/trainer-app/webhook'], ofProvider, webhook)
    await call(400, ['PUT', 'notify', '/v1/apps/trainer-app/webhook'], ofProvider, { ...webhook, url: CANARY })
    const input = JSON.stringify({ collection: 'notes', key: 'entry', value: CANARY })
    await call(200, ['GET', 'internal', `/trpc/storage.get?input=${encodeURIComponent(input)}`], ofClub)
    await call(200, ['POST', 'internal', '/trpc/storage.put'], ofClub, JSON.parse(input))
    await call(422, ['POST', 'internal', '/trpc/storage.put'], ofClub, { collection: CANARY })

    const { stdout, stderr } = await service.stop()
    expect(stderr).toBe('')
    expect(stdout).not.toContain(CANARY)
    for (const text of tokens) expect(stdout).not.toContain(text.split('.')[2]!)

    const requests = readLog(stdout).filter(({ requestId }) => requestId)
    expect(requests.map(({ requestId }) => requestId)).toEqual(Array.from({ length: sent }, (_, i) => `r${i}`))
    expect(requests[0]).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      requestId: 'r0',
      method: 'PUT',
      path: '/v1/storage/{collection}/{key}',
      status: 200,
      ms: expect.any(Number),
      client: 'trainer-app',
    })
  })

  it('gives a request an id when it has none, or one with characters unfit for a log', async () => {
    const service = await start(await externalSettings())
    for (const given of [undefined, 'two words', `${CANARY}"}`, 'x'.repeat(65)]) {
      const headers = given === undefined ? {} : { 'x-request-id': given }
      const { headers: answered } = await send(service.port, 'GET', '/v1/me/profile', { headers })
      expect(answered['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
    }
    const { stdout } = await service.stop()
    expect(stdout).not.toContain(CANARY)
  })

  it('tells of an erasure, which is repeated after a restore, also with LOG_LEVEL=error', async () => {
    const env = { ...(await externalSettings()), LOG_LEVEL: 'error' }
    await command('seed', [], env).ended
    const service = await start(env)
    const token = await issueToken(env, '--club', 'provider', '--client', 'platform', '--scope', 'directory:write')
    const headers = { authorization: `Bearer ${token}` }
    const erase = (id: string) =>
      send(service.internalPort, 'POST', '/trpc/directory.people.erase', { headers, body: { id } })
    expect((await erase('anna')).status).toBe(200)
    expect((await erase('anna')).status).toBe(404)
    expect(readLog((await service.stop()).stdout)).toEqual([
      expect.objectContaining({ repeat: 'member.erase', person: 'anna', removed: expect.anything() }),
    ])
  })

  it('is empty with LOG_LEVEL=silent', async () => {
    const service = await start({ ...(await externalSettings()), LOG_LEVEL: 'silent' })
    await send(service.port, 'GET', '/v1/me/profile')
    expect((await service.stop()).stdout).not.toContain('{')
  })
})

describe('a log that takes no lines', () => {
  it.runIf(process.platform === 'linux')('as on a full disk, costs no request, and lets the service stop', async () => {
    const full = await open('/dev/full', 'w')
    onTestFinished(() => full.close())
    const env = { ...(await externalSettings()), NODE_ENV: 'production' }
    const { port, internalPort, stop, child } = await launch(env, { stdout: full.fd })
    const ready = async () => {
      if (child.exitCode !== null) throw new Error(`It ended with code ${child.exitCode}.`)
      return send(internalPort, 'GET', '/readyz').then(
        ({ status }) => status,
        () => 0,
      )
    }
    await until(ready, (status) => status === 200)
    const headers = { host: 'apps.localhost' }
    // Their lines are more than are written together.
    for (let i = 0; i < 300; i++) expect((await send(port, 'GET', '/v1/me/profile', { headers })).status).toBe(401)
    expect(await stop()).toMatchObject({ code: 0, stderr: '' })
  })

  it('keeps 16 MiB of them', async () => {
    const cwd = import.meta.dirname
    const { stdout } = await run(['--import', 'tsx', join(cwd, 'many-lines.ts')], {}, { cwd }).ended
    expect(readLog(stdout).map(({ mebibyte }) => mebibyte)).toEqual(Array.from({ length: 15 }, (_, i) => i))
  })
})
