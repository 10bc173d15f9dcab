import { styleSheet } from '../browser/pages/style-sheet.ts'

const reference = `
/* Wider than a form: operations on the left, their text beside it. */
header, main { max-width: 68rem; }
/* Where the page is as wide as its window, the mark stands above the text. */
@media (min-width: 36rem) and (max-width: 70rem) { header { padding-left: 2.25rem; } }
.lead p { margin: 0 0 0.5rem; }
main > .address { display: block; }
h3 { display: block; margin: 1.25rem 0 0.25rem; }
.columns { margin-top: 1.5rem; }
.columns nav ul { margin: 0; padding: 0; list-style: none; }
.columns nav a { display: flex; align-items: center; gap: 0.5rem; min-height: 2.75rem; padding: 0.25rem 0; font: 0.875rem/1.3 ui-monospace, monospace; text-decoration: none; }
.columns nav b { flex: 0 0 3.75rem; font-size: 0.75rem; }
[aria-current] { font-weight: 700; text-decoration: none; color: inherit; }
.operation { padding: 1.5rem 0; border-top: 1px solid var(--line); scroll-margin-top: 0; }
.operation:target { border-top: 3px solid var(--accent); }
.operation p { margin: 0 0 0.25rem; }
.call { padding: 0.5rem 0; }
.fields { margin: 0; }
.fields div { display: block; padding: 0.5rem 0; border-bottom: 1px solid var(--line); }
.fields dt { color: inherit; }
.fields dd { font-weight: 400; }
.fields dd a { display: block; padding: 0.625rem 0; }
.fields .hint { margin: 0; }
.error h3, .error h3 a { display: inline-block; margin: 0; padding: 0.5rem 0; }
.error { padding: 0.5rem 0 1rem; border-bottom: 1px solid var(--line); scroll-margin-top: 1rem; }
.error:target { border-bottom: 3px solid var(--accent); }
.error .fields div, .error .fields p, .fields div:last-child { margin: 0; border: 0; padding: 0.25rem 0; }
.fields dd p, .error .fields dd p { padding: 0; }
.error .hint { font-weight: 400; }
.error dt { color: var(--soft); }
pre { margin: 0.5rem 0; padding: 0.75rem; white-space: pre-wrap; background: var(--wash); border-radius: 0.375rem; }
pre, pre code { font: 0.8125rem/1.5 ui-monospace, monospace; }
summary { min-height: 2.75rem; padding: 0.625rem 0; color: var(--accent); cursor: pointer; }
#session summary, #session form { margin: 0; }
.inputs { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr)); gap: 0 1rem; }
.operation form { margin-top: 1rem; padding: 0.25rem 1rem 1rem; border: 1px dashed var(--edge); border-radius: 0.375rem; }
.operation label, #session label { margin-top: 0.75rem; font-weight: 400; }
textarea { display: block; width: 100%; padding: 0.5rem 0.75rem; font: 0.875rem/1.5 ui-monospace, monospace; color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: 0.375rem; }
.operation button, #session button { width: auto; min-width: 8rem; }
#session .ways button { margin: 0 0 0.5rem; }
.answer { margin-top: 1rem; }
@media (min-width: 56rem) {
  .columns { display: grid; grid-template-columns: 17rem minmax(0, 1fr); gap: 2.5rem; }
  .columns nav { position: sticky; top: 1rem; align-self: start; max-height: calc(100vh - 2rem); overflow-y: auto; }
  .operation:first-child { padding-top: 0; border-top: 0; }
  .fields div { display: grid; grid-template-columns: minmax(10rem, 1fr) 2fr; gap: 1rem; }
  .fields.narrow div { grid-template-columns: 7rem 1fr; }
  .fields dt:only-child { grid-column: 1 / -1; }
}`

export const referenceStyle = styleSheet + reference
