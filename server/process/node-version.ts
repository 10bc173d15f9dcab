/**
 * Ends the process on a Node version that is too old. A program imports it first, and it has no imports itself: static imports
 * are linked before they run, and would fail with a message about a missing export.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const isNode = !('deno' in process.versions)
if (isNode && (major < 20 || (major === 20 && minor < 19))) {
  process.stderr.write(`member-apps-api needs Node 20.19 or later, and this is Node ${process.versions.node}.\n`)
  process.exit(1)
}

/**
 * Node 20 lacks the `navigator` of later versions, by which pg sees that it is not at Cloudflare's. It would look at a Response,
 * and so load Node's fetch at each start: 3.5 MB.
 */
if (!('navigator' in globalThis)) Object.assign(globalThis, { navigator: { userAgent: `Node.js/${major}` } })
