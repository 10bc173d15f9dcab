import { createServer } from 'node:http'
import { sampleApp } from './serve.ts'

/** `node dist/examples/third-party/main.js PORT API SYNC ISSUER CLIENT_ID` serves only the app. */
const [port, api, sync, issuer, clientId] = process.argv.slice(2)
const app = api && sync && issuer && clientId ? sampleApp({ api, sync, issuer, clientId }) : undefined
if (app) createServer(app).listen(Number(port))
else {
  process.stderr.write('Usage: main.js PORT API SYNC ISSUER CLIENT_ID\n')
  process.exitCode = 2
}
