import { createServer } from 'node:http'
import { sampleApp } from './serve.ts'

/** `node dist/examples/third-party/main.js PORT API ISSUER CLIENT_ID` serves only the app. */
const [port, api, issuer, clientId] = process.argv.slice(2)
const app = api && issuer && clientId ? sampleApp({ api, issuer, clientId }) : undefined
if (app) createServer(app).listen(Number(port))
else {
  process.stderr.write('Usage: main.js PORT API ISSUER CLIENT_ID\n')
  process.exitCode = 2
}
