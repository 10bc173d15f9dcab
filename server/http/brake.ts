import type { IncomingMessage } from 'node:http'

/**
 * Stops and releases the connection of a request whose body flows. Of a paused request Node would read up to 64 KiB more, and keep a
 * Buffer of 100 bytes or more for each of its chunks.
 */
export class Brake {
  readonly #request: IncomingMessage
  #isOn = false

  constructor(request: IncomingMessage) {
    this.#request = request
    // Node lets the connection go on after each piece of the body.
    request.on('data', () => this.#stop()).once('end', () => this.release())
  }

  hold() {
    this.#isOn = true
    this.#stop()
  }

  release() {
    this.#isOn = false
    this.#request.socket.resume()
  }

  #stop() {
    if (!this.#isOn) return
    queueMicrotask(() => {
      // The next request on the connection is not held.
      if (this.#isOn && !this.#request.readableEnded) this.#request.socket.pause()
    })
  }
}
