import { createServer } from 'node:http'
import { onTestFinished } from 'vitest'
import type { AtEnd } from '../support/databases.ts'
import { listenLocally } from '../support/local-server.ts'

interface Attribute {
  key: string
  value: { stringValue?: string; intValue?: number | string }
}

interface Resource {
  resource: { attributes: Attribute[] }
  scopeSpans: { spans: (Record<'name' | 'traceId' | 'spanId' | 'parentSpanId', string> & RawSpan)[] }[]
}

interface RawSpan {
  kind: number
  attributes: Attribute[]
  status: { code: number }
}

const KINDS = ['unspecified', 'internal', 'server', 'client']

const toValues = (attributes: Attribute[]) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]))

/** An OpenTelemetry collector: it accepts spans over OTLP/HTTP as JSON, and keeps them. */
export async function startCollector(atEnd: AtEnd = onTestFinished) {
  const bodies: string[] = []
  const headers: Record<string, unknown>[] = []
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const isTraces = request.method === 'POST' && request.url === '/v1/traces'
    if (isTraces) {
      bodies.push(Buffer.concat(chunks).toString())
      headers.push(request.headers)
    }
    response.writeHead(isTraces ? 200 : 404, { 'content-type': 'application/json' }).end('{}')
  })
  const port = await listenLocally(server, atEnd)
  const resources = () => bodies.flatMap((body) => (JSON.parse(body) as { resourceSpans: Resource[] }).resourceSpans)
  return {
    url: `http://127.0.0.1:${port}`,
    /** All that arrived, as it was sent. */
    text: () => bodies.join('\n'),
    headers,
    /** The attributes of the processes that sent spans. */
    resources: () => resources().map(({ resource }) => toValues(resource.attributes)),
    spans: () =>
      resources()
        .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans))
        .map(({ name, traceId, spanId, parentSpanId, kind, attributes, status }) => ({
          name,
          traceId,
          spanId,
          parent: parentSpanId || undefined,
          kind: KINDS[kind],
          attributes: toValues(attributes),
          failed: status.code === 2,
        })),
  }
}
