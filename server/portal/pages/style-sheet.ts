/** What the portal's pages have beyond the style sheet of all pages: they are wide, and have tables. */
export const styleSheet = `
body:has(> .portal) > :is(header, main, .portal) { max-width: 64rem; }
.portal {
  display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0 1.5rem; margin: 0 auto;
  padding: 0 1.25rem 0.5rem; font-size: 0.9375rem;
}
.portal ol { display: flex; flex-wrap: wrap; margin: 0; padding: 0; list-style: none; }
.portal li:not(:last-child)::after { content: '›'; padding: 0 0.5rem; color: var(--soft); }
.portal a, .entries a, .tabs a, .pager a, td a:not(.button), h2 a { display: inline-block; padding: 0.625rem 0; }
td a:not(.button) { display: block; width: fit-content; }
.portal form { display: flex; align-items: center; gap: 0.75rem; margin: 0; color: var(--soft); }
body:has(> .portal) > header { padding-inline: 1.25rem; padding-bottom: 0.25rem; }
main button, main .button, .portal button { width: auto; min-height: 2.75rem; margin: 0; padding: 0.375rem 1rem; }
.portal button { flex: none; border-width: 1px; background: transparent; }
.tabs { display: flex; flex-wrap: wrap; gap: 0 1.5rem; margin: 0 0 1.25rem; border-bottom: 1px solid var(--line); }
.tabs a { text-decoration: none; font-weight: 600; border-bottom: 3px solid transparent; }
.tabs a:hover { border-color: var(--line); }
.tabs a[aria-current] { color: var(--ink); border-color: var(--accent); }
h2 { margin: 2rem 0 0.5rem; }
h3 { display: block; margin: 1.5rem 0 0.5rem; }
.entries { margin: 0 0 1rem; padding: 0; list-style: none; }
.entries li { display: flex; flex-wrap: wrap; align-items: center; gap: 0 0.75rem; border-bottom: 1px solid var(--line); }
.entries li > span:not(.badge) { color: var(--soft); }
.entry { margin-top: 1.25rem; }
.entry h2 { display: inline-block; margin: 0; }
.badge { padding: 0.0625rem 0.5rem; border: 1px solid var(--edge); border-radius: 1rem; color: var(--soft); font-size: 0.875rem; white-space: nowrap; }
.badge.good { color: var(--accent); border-color: var(--accent); }
.badge.bad { color: var(--alert); border-color: var(--alert); background: var(--alert-wash); }
.sheet { margin-top: 2rem; padding: 1.25rem var(--pad) 1.5rem; border: 1px solid var(--line); border-radius: 0.5rem; }
.sheet h2 { margin: 0 0 1rem; }
.field { margin: 0 0 1.25rem; }
.field .hint { margin-bottom: 0.375rem; }
textarea {
  display: block; width: 100%; padding: 0.5rem 0.75rem; font: 0.9375rem/1.5 ui-monospace, monospace; color: inherit; background: var(--card);
  border: 1px solid var(--edge); border-radius: 0.375rem; resize: vertical;
}
.choice code { display: block; color: var(--soft); font-size: 0.8125rem; }
.buttons { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; margin: 0 0 1rem; }
.inline { display: flex; align-items: center; gap: 0.5rem; margin: 0; }
.inline select { width: auto; min-height: 2.75rem; }
.filters { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 0 3rem; margin: 0 0 1.25rem; }
.filters form { display: flex; flex-wrap: wrap; align-items: flex-end; gap: 0.75rem; margin: 0 0 0.75rem; }
.filters .field { flex: 0 1 auto; min-width: 9rem; margin: 0; }
.filters :is(input, select) { min-height: 2.75rem; }
.filters button { flex: none; }
dl div { margin: 0 0 0.375rem; }
.facts dt { min-width: 11rem; }
.facts dd { min-width: 0; font-weight: 400; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 0.75rem; }
.tiles div { display: block; margin: 0; padding: 0.75rem 1rem; background: var(--wash); border-radius: 0.375rem; }
.tiles dd { font-size: 1.75rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.waits dd { font-weight: 400; }
table { width: 100%; margin: 0 0 1.25rem; border-collapse: collapse; font-size: 0.9375rem; }
th, td { padding: 0.5rem 0.75rem 0.5rem 0; text-align: start; vertical-align: top; border-bottom: 1px solid var(--line); }
th { min-width: 5rem; overflow-wrap: normal; color: var(--soft); font-weight: 600; vertical-align: bottom; }
td { font-variant-numeric: tabular-nums; }
td > .buttons { margin: 0; flex-wrap: nowrap; }
td .hint { margin: 0; font-size: 0.875rem; }
td code { font-size: 0.875rem; }
td dl, td dl div { margin: 0; }
td dd { font-weight: 400; }
td button, td .button { white-space: nowrap; }
del { color: var(--soft); }
ins { text-decoration: none; }
time span { white-space: nowrap; }
pre {
  max-height: 24rem; margin: 0 0 1rem; padding: 0.75rem 1rem; overflow: auto; font: 0.875rem/1.5 ui-monospace, monospace;
  background: var(--wash); border-radius: 0.375rem; white-space: pre-wrap;
}
details.sheet { padding-block: 0.5rem; }
details.sheet[open] { padding-bottom: 1.5rem; }
details.sheet form { margin: 0.5rem 0 0; }
.sheet summary { font-weight: 600; }
legend h2 { overflow: visible; }
summary { min-height: 2.75rem; padding: 0.625rem 0; cursor: pointer; color: var(--accent); }
.pager { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1.25rem; margin: 0 0 1rem; }
.chart { margin: 0 0 0.5rem; }
.chart svg { display: block; width: 100%; height: 8rem; border-bottom: 1px solid var(--edge); }
.chart .ok { fill: var(--accent); }
.chart .refused { fill: var(--edge); }
.chart .limited { fill: var(--alert); }
figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1.5rem; color: var(--soft); font-size: 0.875rem; }
.key span::before { content: ''; display: inline-block; width: 0.75rem; height: 0.75rem; margin: 0 0.375rem 0 0.75rem; border-radius: 0.125rem; }
.key .ok::before { background: var(--accent); }
.key .refused::before { background: var(--edge); }
.key .limited::before { background: var(--alert); }
/* A table with two buttons a row fits from here on. */
@media (max-width: 63.99rem) { td > .buttons { flex-wrap: wrap; } }
@media (max-width: 47.99rem) {
  table, tbody, tr, td { display: block; }
  thead { display: none; }
  tr { padding: 0.625rem 0; border-bottom: 1px solid var(--line); }
  td { padding: 0.125rem 0; border: 0; }
  td:not(:empty)::before { content: attr(data-label) ': '; color: var(--soft); }
  td:has(> :is(form, .buttons))::before { content: none; }
  td dl { display: inline; }
  .facts dt { min-width: 100%; }
}`.trimStart()
