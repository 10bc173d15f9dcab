const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** Ends the process even if something hangs: supervisors kill after 10 s. */
const LAST_RESORT_MS = 9_500

/**
 * Aborts the signal passed to `use` when the process gets a signal. It may come twice, as npm forwards the Ctrl-C that the
 * terminal has already sent to this process.
 */
export async function interruptible<Result>(use: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const controller = new AbortController()
  const interrupt = () => {
    controller.abort(new Error('Interrupted.'))
    setTimeout(() => process.exit(1), LAST_RESORT_MS).unref()
  }
  for (const signal of SIGNALS) process.on(signal, interrupt)
  try {
    return await use(controller.signal)
  } catch (error) {
    throw controller.signal.aborted ? controller.signal.reason : error
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt)
  }
}
