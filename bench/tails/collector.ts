import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Span } from '../servers/process.ts'

interface ExportedSpan {
  name: string
  traceId: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
}

interface Export {
  resourceSpans: { scopeSpans: { spans: ExportedSpan[] }[] }[]
}

export interface TracedSpan extends Span {
  name: string
  isRequest: boolean
}

const SERVER_KIND = 2

/** Accepts spans over OTLP/HTTP as JSON, and parses them when asked. */
export async function startCollector() {
  let bodies: string[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    bodies.push(Buffer.concat(chunks).toString())
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** By trace id, all that has arrived since the last call. */
    take() {
      const traces = new Map<string, TracedSpan[]>()
      for (const { name, traceId, kind, startTimeUnixNano, endTimeUnixNano } of bodies.flatMap(parseSpans)) {
        const span = {
          name,
          isRequest: kind === SERVER_KIND,
          from: toMilliseconds(startTimeUnixNano),
          to: toMilliseconds(endTimeUnixNano),
        }
        const known = traces.get(traceId)
        if (known) known.push(span)
        else traces.set(traceId, [span])
      }
      bodies = []
      return traces
    },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}

const parseSpans = (body: string) =>
  (JSON.parse(body) as Export).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))

const toMilliseconds = (nanoseconds: string) => Number(nanoseconds) / 1e6
