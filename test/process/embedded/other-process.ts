import { startEmbedded } from '../../../prisma/embedded/start.ts'

// Another process that uses the embedded server, until its standard input ends.
const server = await startEmbedded(process.argv[2]!)
process.stdout.write(`${server.url}\n`)
process.stdin.resume().on('end', async () => {
  await server.stop()
  process.exit()
})
