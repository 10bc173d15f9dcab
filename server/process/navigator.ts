/**
 * Node 20 lacks the `navigator` of later versions, by which pg sees that it is not at Cloudflare's. It would look at a Response,
 * and so load Node's fetch at each start: 3.5 MB.
 */
if (!('navigator' in globalThis)) {
  const [major] = process.versions.node.split('.')
  Object.assign(globalThis, { navigator: { userAgent: `Node.js/${major}` } })
}
