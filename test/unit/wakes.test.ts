import { beforeEach, expect, it, onTestFinished, vi } from 'vitest'
import type { Watch, Watches } from '../../server/process/wakes.ts'
import { changedBy, openWakes } from '../../server/process/wakes.ts'

const changed = { app: 'app', club: 'club', owner: '', collection: 'c' }

/** Processes on one channel. */
function openChannel() {
  const texts: string[] = []
  const nodes: { receive: (text: string) => void }[] = []
  const send = async (text: string) => {
    texts.push(text)
    for (const { receive } of nodes) receive(text)
  }
  const openNode = async () => {
    const woken: unknown[] = []
    const watch: Watch = { onWake() {}, wakeHere: (of) => void woken.push(of), isNotified: false }
    const wakes = openWakes({ stores: watch } satisfies Watches, { send, gatherMs: 0, answerMs: 0 })
    nodes.push(wakes)
    await send(wakes.hello())
    wakes.working(true)
    return { watch, woken }
  }
  return { texts, send, openNode }
}

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
})

const passed = () => vi.advanceTimersByTimeAsync(5)

it('a node sends its changes to the others once it has heard one, and none while it is alone', async () => {
  const { texts, openNode } = openChannel()
  const first = await openNode()
  await passed()
  texts.length = 0
  first.watch.onWake(changed)
  await passed()
  expect(texts).toEqual([])

  const second = await openNode()
  await passed()
  first.watch.onWake(changed)
  second.watch.onWake({ ...changed, collection: 'd' })
  await passed()
  expect([first.woken, second.woken]).toEqual([[{ ...changed, collection: 'd' }], [changed]])
})

it('a node takes no command for another node', async () => {
  const { texts, send, openNode } = openChannel()
  const { watch, woken } = await openNode()
  await passed()
  await send(changedBy('stores', { app: 'app', club: 'club' }))
  texts.length = 0
  watch.onWake(changed)
  await passed()
  expect([woken, texts]).toEqual([[{ app: 'app', club: 'club' }], []])
})

it('a change reaches each of three nodes', async () => {
  const { openNode } = openChannel()
  const first = await openNode()
  await passed()
  const second = await openNode()
  const third = await openNode()
  await passed()
  second.watch.onWake(changed)
  await passed()
  expect([first.woken, third.woken]).toEqual([[changed], [changed]])
})
