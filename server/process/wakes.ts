import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Place, Store, StoreWatch } from '../../routers/kernel/store-watch.ts'

/** What changes within this time after a message is the next one: under load, a write costs no message of its own. */
const GATHER_MS = 20

/**
 * `changed`: name of the watch, app and club. `places`: owner and collection of each, or null for a whole store; nodes of 6ea6af0f
 * send none.
 */
const message = z.object({
  from: z.string(),
  changed: z.array(z.tuple([z.string(), z.string(), z.string()])),
  places: z.array(z.tuple([z.string(), z.string()]).nullable()).optional(),
})
type Message = z.output<typeof message>

interface Changed {
  store: Message['changed'][number]
  place: [string, string] | null
}

export interface Wakes {
  /** Wakes what waits here for the changes of another node's message. False for a text that is no message. */
  receive: (text: string) => boolean
  close: () => void
}

/**
 * Passes changes of the watched stores to other nodes: the first at once, later ones together. `send` gets texts of at most
 * `maxBytes`.
 */
export function openWakes(
  watches: Readonly<Record<string, StoreWatch>>,
  send: (text: string) => void,
  maxBytes = Number.POSITIVE_INFINITY,
): Wakes {
  const from = randomUUID()
  const gathered = new Map<string, Changed>()
  let timer: NodeJS.Timeout | undefined
  let isSoon = false

  const sendAll = () => {
    isSoon = false
    if (gathered.size === 0) return
    for (const text of textsOf(from, [...gathered.values()], maxBytes)) send(text)
    gathered.clear()
    timer = setTimeout(() => {
      timer = undefined
      sendAll()
    }, GATHER_MS).unref()
  }
  for (const [name, watch] of Object.entries(watches)) {
    watch.onWake = (changed) => {
      gathered.set(JSON.stringify([name, changed.app, changed.club, placeOf(changed)]), {
        store: [name, changed.app, changed.club],
        place: placeOf(changed),
      })
      if (timer || isSoon) return
      isSoon = true
      // After the other changes of this turn.
      setImmediate(sendAll)
    }
  }
  return {
    receive(text) {
      const received = parsed(text)
      if (!received) return false
      if (received.from === from) return true
      for (const [i, [name, app, club]] of received.changed.entries()) {
        const [owner, collection] = received.places?.[i] ?? []
        const isPlace = owner !== undefined && collection !== undefined
        watches[name]?.wakeHere(isPlace ? { app, club, owner, collection } : { app, club })
      }
      return true
    },
    close: () => clearTimeout(timer),
  }
}

const placeOf = (changed: Store | Place): Changed['place'] =>
  'collection' in changed ? [changed.owner, changed.collection] : null

/** One that is too large alone is left to the looks. */
function* textsOf(from: string, changed: readonly Changed[], maxBytes: number): Generator<string> {
  const [stores, places] = [changed.map(({ store }) => store), changed.map(({ place }) => place)]
  const text = textOf({ from, changed: stores, places })
  if (Buffer.byteLength(text) <= maxBytes) return yield text
  if (changed.length === 1) return
  const half = Math.ceil(changed.length / 2)
  yield* textsOf(from, changed.slice(0, half), maxBytes)
  yield* textsOf(from, changed.slice(half), maxBytes)
}

const textOf = (message: Message) => JSON.stringify(message)

/** The message of a command that has changed a store. */
export const storeChanged = ({ app, club }: Store) =>
  textOf({ from: 'command', changed: [['stores', app, club]], places: [null] })

/** Other programs may use the same channel. */
function parsed(text: string): Message | undefined {
  try {
    return message.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}
