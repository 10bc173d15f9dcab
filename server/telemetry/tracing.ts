import { randomUUID } from 'node:crypto'
import type { Context, Span } from '@opentelemetry/api'
import { DiagLogLevel, diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Logger } from 'pino'
import { within as inTime } from '../../prisma/within.ts'
import type { ActiveSpan, Tracing } from './trace-context.ts'
import { activeSpan } from './trace-context.ts'

const CLOSE_MS = 2_000

/** An unavailable collector is logged once in this time. */
const COMPLAINT_MS = 60_000

/** Others become `_OTHER`, as in OpenTelemetry's conventions: a client may send any. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'CONNECT', 'TRACE'])

interface Options {
  /** Unless OTEL_SERVICE_NAME or OTEL_RESOURCE_ATTRIBUTES sets another. */
  serviceName: string
  version: string
  log: Logger
}

interface Traced extends ActiveSpan {
  span: Span
}

/**
 * Exports spans over OTLP/HTTP. Loaded only when configured: endpoint, headers, sampler and limits are the standard variables
 * (OTEL_*), which the packages read themselves. Spans are created manually: HTTP instrumentation took 200 to 480 us a request,
 * sampled or not.
 */
export function openTracing({ serviceName, version, log }: Options): Tracing {
  diag.setLogger(complaintsTo(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  const own = { 'service.name': serviceName, 'service.version': version, 'service.instance.id': randomUUID() }
  const provider = new BasicTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes(own))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
  })
  const tracer = provider.getTracer('member-apps-api', version)
  const propagator = new W3CTraceContextPropagator()

  /** The caller's span. Without `tracestate`, in which a stranger could pass any text. */
  const extractContext = (traceparent: unknown): Context =>
    typeof traceparent !== 'string'
      ? ROOT_CONTEXT
      : propagator.extract(ROOT_CONTEXT, traceparent, {
          get: (text, name) => (name === 'traceparent' ? text : undefined),
          keys: () => ['traceparent'],
        })

  const within = async <T>(span: Span, work: () => Promise<T>): Promise<T> => {
    const active: Traced = { span, traceId: span.spanContext().traceId, open: true }
    try {
      return await activeSpan.run(active, work)
    } finally {
      active.open = false
      span.end()
    }
  }

  return {
    request: ({ method, traceparent }, work, facts) => {
      const kind = SpanKind.SERVER
      const attributes = { 'http.request.method': METHODS.has(method) ? method : '_OTHER' }
      const span = tracer.startSpan('request', { kind, attributes }, extractContext(traceparent))
      return within(span, async () => {
        await work()
        const { operation, route, status } = facts()
        span.updateName(operation)
        span.setAttribute('http.response.status_code', status)
        if (route !== undefined) span.setAttribute('http.route', route)
        if (status >= 500) fail(span, String(status))
      })
    },

    statement(name) {
      const active = activeSpan.getStore() as Traced | undefined
      if (!active?.open || !active.span.isRecording()) return undefined
      const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': name }
      const span = tracer.startSpan(
        name,
        { kind: SpanKind.CLIENT, attributes },
        trace.setSpan(ROOT_CONTEXT, active.span),
      )
      return (error) => {
        if (error) fail(span, (error as { code?: string }).code ?? 'connection')
        span.end()
      }
    },

    attempt: (number, work, readResult) => {
      const kind = SpanKind.CLIENT
      const attributes = { 'http.request.method': 'POST', 'http.request.resend_count': number - 1 }
      const span = tracer.startSpan('webhook.attempt', { kind, attributes }, ROOT_CONTEXT)
      return within(span, async () => {
        const made = await work(toTraceparent(span))
        const { status, error } = readResult(made)
        if (status !== null) span.setAttribute('http.response.status_code', status)
        if (error !== null) fail(span, error)
        return made
      })
    },

    async close() {
      await inTime(CLOSE_MS, provider.shutdown()).catch(() => {})
      diag.disable()
    },
  }
}

function fail(span: Span, type: string) {
  span.setAttribute('error.type', type)
  span.setStatus({ code: SpanStatusCode.ERROR })
}

function toTraceparent(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`
}

/** Omits the packages' details, which repeat a collector's response. */
function complaintsTo(log: Logger) {
  let silentUntil = 0
  const complain = () => {
    const now = performance.now()
    if (now < silentUntil) return
    silentUntil = now + COMPLAINT_MS
    log.warn('spans are lost: they could not be exported, or a setting OTEL_… cannot be used')
  }
  const nothing = () => {}
  return { error: complain, warn: complain, info: nothing, debug: nothing, verbose: nothing }
}
