import type { Store } from './store-watch.ts'

/** A message about all that is due: it is not by app. */
const ALL: Store = { app: '', club: '' }

/** Reports to webhook workers, of this process and of others, that a delivery or an event about a member may be due. */
export class DueWatch {
  #isNotified = false

  /** Set by the worker of this process. */
  onDue: () => void = () => {}

  /** Passes a report on to other processes. */
  onWake: (changed: Store) => void = () => {}

  get isNotified() {
    return this.#isNotified
  }

  /** Whether other processes report. Wakes the worker, as a report may have been lost. */
  set isNotified(isNotified: boolean) {
    this.#isNotified = isNotified
    this.onDue()
  }

  /** Something may be due, after the transaction that stored it. */
  wake() {
    this.wakeHere()
    this.onWake(ALL)
  }

  /** Another process has reported it. */
  wakeHere() {
    this.onDue()
  }
}
