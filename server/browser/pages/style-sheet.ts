/** Light and dark. Every text has the contrast of WCAG AA on its background. */
const colours = `
:root {
  color-scheme: light dark;
  --ground: #e9ede7; --card: #ffffff; --ink: #1b241f; --soft: #4f5b54; --line: #cdd5cc; --edge: #75827a;
  --accent: #1d5c43; --on-accent: #ffffff; --wash: #eaf2ed; --alert: #93291b; --alert-wash: #fbeeea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #111613; --card: #1b221e; --ink: #e7ece8; --soft: #acb8b0; --line: #3a463f; --edge: #82908a;
    --accent: #86d3ab; --on-accent: #0b2016; --wash: #233029; --alert: #ffb5a7; --alert-wash: #3b221d;
  }
}`

const page = `
*, *::before, *::after { box-sizing: border-box; }
html { font: 1.0625rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif; -webkit-text-size-adjust: 100%; }
body {
  margin: 0; padding: 0 0 3rem; min-height: 100vh; color: var(--ink); background: var(--ground);
  overflow-wrap: anywhere; hyphens: manual;
}
header {
  display: flex; align-items: center; gap: 0.5rem; max-width: 34rem; margin: 0 auto; padding: 1rem 1.25rem;
  color: var(--soft); font-size: 0.9375rem; font-weight: 600; letter-spacing: 0.02em;
}
header svg { width: 1.25rem; height: 1.25rem; fill: var(--accent); }
header img { flex: none; height: 2rem; max-width: 10rem; object-fit: contain; }
/* The stripes of a jersey along the upper edge. */
main {
  --pad: 1.25rem; --stripe: inset 0 0.125rem var(--card), inset 0 0.25rem var(--accent);
  max-width: 34rem; margin: 0 auto; padding: 1.5rem var(--pad); background: var(--card);
  border-top: 0.4375rem solid var(--accent); box-shadow: var(--stripe);
}
h1, h2 { font-family: ui-serif, 'Iowan Old Style', Charter, Georgia, 'Noto Serif', serif; line-height: 1.2; text-wrap: balance; }
h1 { margin: 0.5rem 0 0.5rem; font-size: 1.875rem; }
h2 { margin: 0; font-size: 1.25rem; }
/* Stacked combining marks stay within their line's box. */
h1, h2, p, dd, legend, label, button, a { overflow: clip; overflow-clip-margin: 0.5rem; }
p { margin: 0 0 1rem; }
.lead { color: var(--soft); }
.lead strong { color: var(--ink); }
.icon {
  display: inline-flex; align-items: center; justify-content: center; flex: none; width: 3rem; height: 3rem; object-fit: cover;
  color: var(--on-accent); background: var(--accent); border-radius: 0.625rem; font: 600 1.5rem/1 system-ui, sans-serif;
}
img.icon { background: none; }
h1 .icon { display: flex; margin: 0 0 0.875rem; }
.hint { margin: 0 0 0.5rem; color: var(--soft); font-size: 0.9375rem; }
.problem, .done, .detail { margin: 1rem 0; padding: 0.75rem 1rem; border-left: 0.3125rem solid; border-radius: 0.25rem; }
.problem { color: var(--alert); background: var(--alert-wash); font-weight: 600; }
.done { color: var(--accent); background: var(--wash); }
.detail { color: var(--soft); background: var(--wash); border-color: var(--edge); font: 0.875rem/1.5 ui-monospace, monospace; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (min-width: 36rem) {
  main { --pad: 2.25rem; padding-top: 2rem; border-radius: 0 0 0.5rem 0.5rem; overflow: clip; box-shadow: var(--stripe), 0 0.125rem 0.75rem #0000001a; }
  header { padding: 2rem 0 1rem; }
}`

const controls = `
form { margin: 1.5rem 0 0; }
label { display: block; font-weight: 600; }
input:not([type='radio'], [type='checkbox']), select {
  display: block; width: 100%; min-height: 3rem; padding: 0.5rem 0.75rem; font: inherit; color: inherit;
  background: var(--card); border: 1px solid var(--edge); border-radius: 0.375rem;
}
[aria-invalid='true']:not(fieldset) { border: 2px solid var(--alert); }
.code { max-width: 14rem; font-size: 1.5rem; letter-spacing: 0.2em; font-variant-numeric: tabular-nums; }
button, .button {
  display: flex; align-items: center; justify-content: center; width: 100%; min-height: 3rem; margin: 1rem 0 0;
  padding: 0.5rem 1rem; font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer;
  color: var(--accent); background: var(--card); border: 2px solid var(--accent); border-radius: 0.375rem;
}
button.chief, .button.chief { color: var(--on-accent); background: var(--accent); }
button:hover, .button:hover { background: var(--wash); }
button.chief:hover, .button.chief:hover { background: color-mix(in srgb, var(--accent) 88%, var(--ink)); }
button[hidden] { display: none; }
a { color: var(--accent); text-underline-offset: 0.2em; }
.after a { display: inline-block; padding: 0.625rem 0; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.or { display: flex; align-items: center; gap: 1rem; margin: 1.5rem 0 -0.5rem; color: var(--soft); }
.or::before, .or::after { content: ''; flex: 1; border-top: 1px solid var(--line); }
.aside { margin-top: 2rem; padding: 1rem; border: 1px dashed var(--edge); border-radius: 0.375rem; }
.aside h2 + .hint { margin: 0.25rem 0 1rem; }
.persons button { justify-content: flex-start; text-align: start; }
@media (prefers-reduced-motion: no-preference) { button, .button { transition: background-color 0.15s; } }`

const lists = `
fieldset { min-width: 0; margin: 0 0 1.25rem; padding: 0; border: 0; }
legend { padding: 0; font-weight: 700; }
.choice {
  display: flex; align-items: flex-start; gap: 0.75rem; min-height: 2.75rem; padding: 0.625rem 0; font-weight: 400;
  border-bottom: 1px solid var(--line); cursor: pointer;
}
.choice input { flex: none; width: 1.375rem; height: 1.375rem; margin: 0.0625rem 0 0; accent-color: var(--accent); }
.changing { padding: 0 1rem; border: 2px solid var(--accent); border-radius: 0.375rem; background: var(--wash); }
/* A floating legend is placed inside the box instead of on its border. */
.changing legend { float: inline-start; width: 100%; padding: 0.75rem 0 0; color: var(--accent); }
.changing legend + * { clear: both; }
.changing .choice:last-child { border: 0; }
#untick { margin-bottom: 1rem; }
.one { padding: 0.625rem 0; border: solid var(--line); border-width: 1px 0; }
/* The stub of a permission slip: the member decides below the perforation. */
.slip { position: relative; margin: 1.75rem calc(-1 * var(--pad)) 0; padding: 1.5rem var(--pad) 0; border-top: 2px dashed var(--edge); }
.slip::before, .slip::after { content: ''; position: absolute; top: calc(-0.625rem - 1px); border: 0.625rem solid var(--ground); }
.slip::before { left: 0; border-left: 0; border-radius: 0 1rem 1rem 0; }
.slip::after { right: 0; border-right: 0; border-radius: 1rem 0 0 1rem; }
.decision { display: grid; grid-template-columns: repeat(auto-fit, minmax(8rem, 1fr)); gap: 0.75rem; }
.decision button, .decision .button, .slip > button { margin: 0; }
.app h2 { display: flex; align-items: center; gap: 0.75rem; margin-bottom: 0.5rem; }
.app { margin-top: 1.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
.app form { margin: 0; }
.app button { width: auto; }
.app ul { margin: 0 0 1rem; padding-left: 1.25rem; }
.app dl { display: grid; grid-template-columns: fit-content(45%) 1fr; gap: 0 0.75rem; }
.app dl div { display: contents; }
dl { margin: 0 0 0.75rem; }
dl div { display: flex; flex-wrap: wrap; gap: 0 0.5rem; }
dt { color: var(--soft); }
dd { margin: 0; font-weight: 600; }`

const addresses = `
main > * + h2 { margin-top: 2.25rem; }
main > h2 + .hint { margin-top: 0.375rem; }
h3 { display: inline; margin: 0 0.5rem 0 0; font-size: 1.0625rem; }
.api { padding: 0.875rem 0; border-bottom: 1px solid var(--line); }
.api .hint { display: inline; }
/* The two links stay on one line. */
.api .address { flex-basis: 100%; }
.api:last-child, .commands div:last-child { border: 0; }
.ways { display: flex; flex-wrap: wrap; align-items: center; gap: 0 1.25rem; }
.ways a { padding: 0.625rem 0; }
code { font: 0.9375rem/1.5 ui-monospace, monospace; }
.address { flex: 1 1 20rem; margin: 0.375rem 0; padding: 0.5rem 0.75rem; background: var(--wash); border-radius: 0.375rem; }
p + .address { display: block; margin: 0 0 0.75rem; }
.commands div { display: block; padding: 0.75rem 0; border-bottom: 1px solid var(--line); }
.commands dt { color: inherit; }
.commands dd { color: var(--soft); font-size: 0.9375rem; font-weight: 400; }`

export const styleSheet = [colours, page, controls, lists, addresses].join('\n').trimStart()
