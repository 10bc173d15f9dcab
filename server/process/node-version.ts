/**
 * Ends the process on a Node that is too old for the code. It is the first import of a program and has none itself: what is
 * imported statically beside it is linked before it runs, and fails there with a message about a missing export.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const isNode = !('deno' in process.versions)
if (isNode && (major < 20 || (major === 20 && minor < 19))) {
  process.stderr.write(`member-apps-api needs Node 20.19 or later, and this is Node ${process.versions.node}.\n`)
  process.exit(1)
}
