import ICAL from 'ical.js'
import ical from 'node-ical'
import type { AuthWorld } from '../oauth/auth-world.ts'
import type { Reply } from '../support/request.ts'
import { id } from '../support/tenant.ts'

export const scope = 'svc.me.events:read'

/** An event as both parsers read it; they agree. */
export interface Parsed {
  uid: string
  title: string
  location: string
  /** Unix seconds, or dates of an all-day event. */
  start: number | string
  end: number | string
  sequence: number
  modified: number
  status: string
}

type Value = { toUnixTime(): number; isDate: boolean; toString(): string }

/** Reads a feed with ical.js, and compares what node-ical makes of it. */
export function parse(text: string) {
  const root = new ICAL.Component(ICAL.parse(text) as unknown[])
  const toTime = (value: Value) => (value.isDate ? value.toString() : value.toUnixTime())
  const events = root.getAllSubcomponents('vevent').map((component): Parsed => {
    const read = (name: string) => component.getFirstPropertyValue(name) as never
    const event = new ICAL.Event(component)
    return {
      uid: event.uid,
      title: event.summary ?? '',
      location: event.location ?? '',
      start: toTime(event.startDate as never),
      end: toTime(event.endDate as never),
      sequence: event.sequence ?? 0,
      modified: (read('last-modified') as Value).toUnixTime(),
      status: read('status'),
    }
  })
  const others = Object.values(ical.sync.parseICS(text)).filter((one) => one?.type === 'VEVENT')
  const formatDay = (date: Date & { dateOnly?: true }) =>
    `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`
  const readTime = (date: Date & { dateOnly?: true }) => (date.dateOnly ? formatDay(date) : date.getTime() / 1000)
  const again = others.map((one) => ({
    uid: one.uid,
    title: one.summary ?? '',
    start: readTime(one.start as never),
    end: readTime((one.end ?? one.start) as never),
    sequence: Number(one.sequence),
    status: one.status,
  }))
  return {
    // ical.js does not know that this is a text.
    name: String(root.getFirstPropertyValue('x-wr-calname')).replace(/\\(.)/g, (_, one) => (one === 'n' ? '\n' : one)),
    timeZone: String(root.getFirstPropertyValue('x-wr-timezone')),
    /** The names of its own properties, and how often it has components. */
    properties: root.getAllProperties().map(({ name }) => name),
    components: root.getAllSubcomponents().map(({ name }) => name),
    events,
    again,
  }
}

export function calendarCalls({ world, client, toTokens }: AuthWorld) {
  const read = (url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Reply> => {
    const { host, pathname } = new URL(url)
    return world.send(method, pathname, { host, headers })
  }
  return {
    read,
    /** What the feed shows, by start. */
    async show(url: string) {
      const reply = await read(url)
      if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`)
      return parse(reply.text)
    },
    async tokens(member = world.ids.member, club = world.ids.club, asked = scope) {
      return (await toTokens({ client, scope: asked }, member, club)).access_token
    },
    async create(token: string): Promise<string> {
      const reply = await world.call('POST', '/calendar', { token })
      if (reply.status !== 201) throw new Error(`${reply.status} ${reply.text}`)
      return reply.body.url
    },
    /** A club-wide event that begins in `hours`. */
    async addEvent(hours: number, more: object = {}, clubId = world.ids.club) {
      const start = new Date((Math.floor(world.core.now() / 1000) + hours * 3600) * 1000)
      const end = new Date(start.getTime() + 3_600_000)
      const data = { id: id('event'), clubId, title: 'Training', start, end, location: 'Hall', state: 'published' }
      return world.db.event.create({ data: { ...data, ...more } as never })
    },
  }
}
