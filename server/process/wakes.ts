import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { within } from '../../prisma/within.ts'
import type { Place, Store } from '../../routers/kernel/store-watch.ts'

/** How long `close` waits for messages that are being sent. */
const CLOSING_MS = 1_000

/** Sends, and does not listen. */
const COMMAND = 'command'

/**
 * `changed`: name of the watch, app and club. `places`: owner and collection of each, or null for a whole store; nodes of 6ea6af0f
 * send none. `hello`, never twice the same: a node that begins to listen asks the others to send anything.
 */
const message = z.object({
  from: z.string(),
  hello: z.string().optional(),
  changed: z.array(z.tuple([z.string(), z.string(), z.string()])),
  places: z.array(z.tuple([z.string(), z.string()]).nullable()).optional(),
})
type Message = z.output<typeof message>

interface Changed {
  store: Message['changed'][number]
  place: [string, string] | null
}

/** The watch of stores, of an app's events, or of due deliveries. */
export interface Watch {
  onWake: (changed: Store | Place) => void
  wakeHere: (changed: Store | Place) => void
  isNotified: boolean
}

export type Watches = Readonly<Record<string, Watch>>

export interface Wakes {
  /** A text with which a node begins to listen. */
  hello: () => string
  /** Wakes what waits here for the changes of another node's message. False for a text that is no message. */
  receive: (text: string) => boolean
  /** Whether messages of other processes arrive. */
  working: (isWorking: boolean) => void
  /** Sends the gathered changes. */
  close: () => Promise<void>
}

interface Sending {
  send: (text: string) => Promise<unknown>
  /** Changes within this time after a message are the next one: under load, a write costs no message of its own. */
  gatherMs: number
  /** The largest text that can be sent. */
  maxBytes?: number
  /** How long the others have to answer a hello: a node that has heard none sends no changes. Without it, a node sends always. */
  answerMs?: number
}

/** Passes changes of the watched stores to other processes: the first at once, later ones together. */
export function openWakes(watches: Watches, sending: Sending): Wakes {
  const { send, gatherMs, maxBytes = Number.POSITIVE_INFINITY, answerMs } = sending
  const from = randomUUID()
  let hasHeard = false
  let isAlone = false
  let answering: NodeJS.Timeout | undefined
  const gathered = new Map<string, Changed>()
  let timer: NodeJS.Timeout | undefined
  let isSoon = false
  let isAsked = false
  const underWay = new Set<Promise<unknown>>()

  const sendAll = () => {
    isSoon = false
    if (gathered.size === 0 && !isAsked) return
    isAsked = false
    for (const text of formatMessages(from, [...gathered.values()], maxBytes)) {
      const sent = send(text)
        .catch(() => {})
        .finally(() => underWay.delete(sent))
      underWay.add(sent)
    }
    gathered.clear()
    timer = setTimeout(() => {
      timer = undefined
      sendAll()
    }, gatherMs).unref()
  }
  const sendSoon = () => {
    if (timer || isSoon) return
    isSoon = true
    // After the other changes of this turn.
    setImmediate(sendAll)
  }
  for (const [name, watch] of Object.entries(watches)) {
    watch.onWake = (changed) => {
      if (isAlone) return
      gathered.set(JSON.stringify([name, changed.app, changed.club, toPlace(changed)]), {
        store: [name, changed.app, changed.club],
        place: toPlace(changed),
      })
      sendSoon()
    }
  }
  return {
    hello: () => formatMessage({ from, hello: randomUUID(), changed: [] }),
    receive(text) {
      const received = parsed(text)
      if (!received) return false
      if (received.from === from) return true
      if (received.from !== COMMAND) {
        hasHeard = true
        isAlone = false
      }
      if (received.hello !== undefined) {
        isAsked = true
        sendSoon()
      }
      for (const [i, [name, app, club]] of received.changed.entries()) {
        const [owner, collection] = received.places?.[i] ?? []
        const isPlace = owner !== undefined && collection !== undefined
        watches[name]?.wakeHere(isPlace ? { app, club, owner, collection } : { app, club })
      }
      return true
    },
    working(isWorking) {
      for (const watch of Object.values(watches)) if (watch.isNotified !== isWorking) watch.isNotified = isWorking
      isAlone = false
      clearTimeout(answering)
      if (isWorking && answerMs !== undefined)
        answering = setTimeout(() => {
          isAlone = !hasHeard
        }, answerMs).unref()
    },
    async close() {
      clearTimeout(answering)
      clearTimeout(timer)
      sendAll()
      clearTimeout(timer)
      await within(CLOSING_MS, Promise.all(underWay))
    },
  }
}

const toPlace = (changed: Store | Place): Changed['place'] =>
  'collection' in changed ? [changed.owner, changed.collection] : null

/** One that is too large alone is left to the looks. */
function* formatMessages(from: string, changed: readonly Changed[], maxBytes: number): Generator<string> {
  const [stores, places] = [changed.map(({ store }) => store), changed.map(({ place }) => place)]
  const text = formatMessage({ from, changed: stores, places })
  if (Buffer.byteLength(text) <= maxBytes) return yield text
  if (changed.length === 1) return
  const half = Math.ceil(changed.length / 2)
  yield* formatMessages(from, changed.slice(0, half), maxBytes)
  yield* formatMessages(from, changed.slice(half), maxBytes)
}

const formatMessage = (message: Message) => JSON.stringify(message)

/** The message of a command that has changed a store, or has made deliveries due (an app and a club without names). */
export const changedBy = (watch: 'stores' | 'due', { app, club }: Store) =>
  formatMessage({ from: COMMAND, changed: [[watch, app, club]], places: [null] })

/** Other programs may use the same channel. */
function parsed(text: string): Message | undefined {
  try {
    return message.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
