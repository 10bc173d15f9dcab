import { readFileSync } from 'node:fs'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { LongPollSlots } from '../../server/http/long-poll-slots.ts'

const page = readFileSync(join(import.meta.dirname, '../../docs/sync.md'), 'utf8').replace(/\s+/g, ' ')
const LIMITS =
  /On each node, ([\d,]+) requests of a member and app may wait, ([\d,]+) of the app itself and ([\d,]+) of a team; more are 429\. So two nodes hold ([\d,]+) of a team/
const numbers = (LIMITS.exec(page) ?? []).slice(1).map((text) => Number(text.replace(',', '')))

const response = () => new ServerResponse(new IncomingMessage(new Socket()))

/** How many of these wait before one is refused. */
function waiting(holds: LongPollSlots, holder: (i: number) => Parameters<LongPollSlots['hold']>[0]): number {
  const before = holds.size
  for (let i = 0; i < 10_000; i++) {
    try {
      holds.hold(holder(i), response())
    } catch (error) {
      expect(error).toMatchObject({
        message: 'Too many requests of this member, app or team already wait for changes.',
      })
      return holds.size - before
    }
  }
  throw new Error('There is no limit.')
}

describe('the limits of waiting requests in docs/sync.md', () => {
  it('are those of a node: of a member and app, of an app itself, of a team', () => {
    const ofMember = waiting(new LongPollSlots(), () => ({ team: 'planners', app: 'planner', member: 'anna' }))
    const ofApp = waiting(new LongPollSlots(), () => ({ team: 'planners', app: 'planner', member: null }))
    const ofTeam = waiting(new LongPollSlots(), (i) => ({ team: 'planners', app: 'planner', member: `member-${i}` }))
    expect(numbers.slice(0, 3)).toEqual([ofMember, ofApp, ofTeam])
  })

  it('count on each node alone, so two hold twice as many of a team', () => {
    const nodes = [new LongPollSlots(), new LongPollSlots()]
    const ofTeam = nodes.map((holds) => waiting(holds, (i) => ({ team: 'planners', app: null, member: `member-${i}` })))
    expect(numbers[3]).toBe(ofTeam[0]! + ofTeam[1]!)
  })

  it('are of one member in all apps apart, and of one team over its apps', () => {
    const holds = new LongPollSlots()
    const [, , ofTeam] = numbers
    const apps = waiting(holds, (i) => ({ team: 'planners', app: `app-${i}`, member: 'anna' }))
    expect(apps).toBe(ofTeam)
  })
})
