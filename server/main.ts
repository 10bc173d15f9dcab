import './process/node-version.ts'

const { runProcess } = await import('./process/run.ts')

await runProcess(async (config, log, shutdownSignal) => {
  // Loaded here, as packages may print while they are loaded: by now their output goes to the log.
  const { startService } = await import('./process/start.ts')
  const { announce } = await import('./process/banner.ts')
  const service = await startService(config, log)
  try {
    await announce(config, service, log)
    await shutdownSignal
  } finally {
    await service.close()
  }
}, process.argv.slice(2))
