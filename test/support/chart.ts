import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse, parseAllDocuments, stringify } from 'yaml'

// biome-ignore lint/suspicious/noExplicitAny: a test says what it expects
type Any = any

/** What a template sees: its dot, and the variables of `range`. */
interface Scope {
  dot: Any
  variables: Record<string, unknown>
}
type Node = string | { expression: string; body?: Node[] }

/**
 * Renders a Helm chart's templates and parses what comes out. It knows as much of Helm's language as our chart uses, and throws
 * at anything else: it stands in for `helm template`, which no package registry at hand has.
 */
export function renderChart(directory: string, values: (given: Any) => void = () => {}): Any[] {
  const read = (path: string) => readFileSync(join(directory, path), 'utf8')
  const given = parse(read('values.yaml'))
  values(given)
  const { name, appVersion } = parse(read('Chart.yaml'))
  const dot = { Values: given, Chart: { Name: name, AppVersion: appVersion }, Release: { Name: 'release' } }
  const defined = new Map<string, Node[]>()
  const files = readdirSync(join(directory, 'templates')).sort()
  const texts = files.map((file) => {
    const nodes = parseTemplate(read(join('templates', file)))
    return { file, text: render(nodes, { dot, variables: {} }, defined) }
  })
  return texts
    .filter(({ file }) => file.endsWith('.yaml'))
    .flatMap(({ file, text }) =>
      parseAllDocuments(text).map((document) => {
        const [error] = document.errors
        if (error) throw new Error(`${file}: ${error.message}\n${text}`)
        return document.toJS()
      }),
    )
    .filter((document) => document !== null)
}

/** An empty list or map is false. */
const isTrue = (value: unknown) =>
  typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : Boolean(value)

/** `{{-` and `-}}` take the white space beside them. */
function parseTemplate(text: string): Node[] {
  const stack: { nodes: Node[]; block?: { expression: string; body: Node[] } }[] = [{ nodes: [] }]
  const pieces = text
    .replace(/\s*\{\{-/g, '{{')
    .replace(/-\}\}\s*/g, '}}')
    .split(/\{\{\s*|\s*\}\}/)
  for (const [i, piece] of pieces.entries()) {
    const top = stack.at(-1)!
    if (i % 2 === 0) top.nodes.push(piece)
    else if (piece === 'end') {
      if (stack.length === 1) throw new Error('An end of nothing.')
      stack.pop()
    } else if (/^(?:define|if|range) /.test(piece)) {
      const block = { expression: piece, body: [] as Node[] }
      top.nodes.push(block)
      stack.push({ nodes: block.body, block })
    } else top.nodes.push({ expression: piece })
  }
  if (stack.length > 1) throw new Error(`Without an end: ${stack.at(-1)!.block!.expression}`)
  return stack[0]!.nodes
}

function render(nodes: readonly Node[], scope: Scope, defined: Map<string, Node[]>): string {
  const evaluated = (pipeline: string) => evaluate(pipeline, scope, defined)
  return nodes
    .map((node) => {
      if (typeof node === 'string') return node
      const { expression, body = [] } = node
      const [word, ...rest] = expression.split(' ')
      if (word === 'define') {
        defined.set(JSON.parse(rest[0]!), body)
        return ''
      }
      if (word === 'if') return isTrue(evaluated(rest.join(' '))) ? render(body, scope, defined) : ''
      if (word === 'range') {
        const [, key, value, over] = /^range \$(\w+), \$(\w+) := (.+)$/.exec(expression)!
        return Object.entries(evaluated(over!) as object)
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([k, v]) => render(body, { ...scope, variables: { [key!]: k, [value!]: v } }, defined))
          .join('')
      }
      const result = evaluated(expression)
      if (result === undefined || typeof result === 'object') throw new Error(`${expression} is no text`)
      return String(result)
    })
    .join('')
}

/** A term, and functions that each take the result so far as their last argument. */
function evaluate(pipeline: string, scope: Scope, defined: Map<string, Node[]>): unknown {
  const term = (text: string): unknown => {
    if (/^\d+$/.test(text)) return Number(text)
    if (text.startsWith('"')) return JSON.parse(text)
    if (text.startsWith('$')) return scope.variables[text.slice(1)]
    if (text === '.') return scope.dot
    if (!/^(?:\.\w+)+$/.test(text)) throw new Error(`Unknown here: ${text}`)
    return text
      .slice(1)
      .split('.')
      .reduce((value: Any, name) => value[name], scope.dot)
  }
  const functions: Record<string, (...given: Any[]) => unknown> = {
    quote: (value) => JSON.stringify(String(value)),
    default: (otherwise, value) => value || otherwise,
    toYaml: (value) => stringify(value).trimEnd(),
    nindent: (count: number, text: string) => `\n${text.replace(/^/gm, ' '.repeat(count))}`,
    include: (name: string, dot) => {
      if (!defined.has(name)) throw new Error(`Not defined: ${name}`)
      return render(defined.get(name)!, { dot, variables: {} }, defined).trim()
    },
  }
  const [first, ...stages] = pipeline.split(' | ').map((stage) => stage.match(/"[^"]*"|\S+/g)!)
  const call = ([name, ...given]: readonly string[], last: unknown[]) => {
    const run = functions[name!]
    if (!run) throw new Error(`No function of ours: ${name}`)
    return run(...given.map(term), ...last)
  }
  const start = Object.hasOwn(functions, first![0]!) ? call(first!, []) : term(first![0]!)
  return stages.reduce<unknown>((value, stage) => call(stage, [value]), start)
}
