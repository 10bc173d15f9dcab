import {
  amber,
  amberDark,
  blue,
  blueDark,
  brown,
  brownDark,
  grass,
  grassDark,
  iris,
  irisDark,
  plum,
  plumDark,
  red,
  redDark,
  sage,
  sageDark,
  teal,
  tealDark,
} from '@radix-ui/colors'

type Step = 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 | 12

const [light, dark] = [
  { ...sage, ...grass, ...amber, ...red, ...plum, ...blue, ...brown, ...iris, ...teal, white0: '#ffffff' },
  {
    ...sageDark,
    ...grassDark,
    ...amberDark,
    ...redDark,
    ...plumDark,
    ...blueDark,
    ...brownDark,
    ...irisDark,
    ...tealDark,
    white0: '#ffffff',
  },
]
type Scale = 'sage' | 'grass' | 'amber' | 'red' | 'plum' | 'blue' | 'brown' | 'iris' | 'teal'
type Colour = `${Scale}${Step}` | 'white0'

/**
 * Colours by their meaning, in light and in dark, from Radix's scales. A colour is a state: green in force, amber pending or in
 * sandbox, red refused, suspended or destructive; in code, whose colours are others, it is a kind of word, and a verb of HTTP a
 * kind of call. test/unit/look.test.ts holds the contrast of each pair that pages use.
 */
export const colours = {
  ground: ['sage2', 'sage1'],
  card: ['white0', 'sage2'],
  wash: ['sage2', 'sage3'],
  ink: ['sage12', 'sage12'],
  soft: ['sage11', 'sage11'],
  line: ['sage6', 'sage6'],
  edge: ['sage10', 'sage10'],
  accent: ['grass11', 'grass11'],
  'on-accent': ['white0', 'sage1'],
  good: ['grass11', 'grass11'],
  'good-wash': ['grass3', 'grass3'],
  pending: ['amber12', 'amber12'],
  'pending-wash': ['amber3', 'amber3'],
  alert: ['red11', 'red11'],
  'alert-wash': ['red3', 'red3'],
  'on-alert': ['white0', 'sage1'],
  'code-comment': ['sage11', 'sage11'],
  'code-keyword': ['plum11', 'plum11'],
  'code-string': ['blue11', 'blue11'],
  'code-constant': ['brown11', 'brown11'],
  'code-function': ['iris11', 'iris11'],
  'code-type': ['teal12', 'teal11'],
  'verb-get': ['blue11', 'blue11'],
  'verb-post': ['grass11', 'grass11'],
  'verb-put': ['brown11', 'brown11'],
  'verb-delete': ['red11', 'red11'],
} as const satisfies Record<string, readonly [light: Colour, dark: Colour]>

export type ColourName = keyof typeof colours

/** The value of a colour as `#rrggbb`. */
export const readColour = (name: ColourName, theme: 'light' | 'dark'): string =>
  theme === 'light' ? light[colours[name][0]] : dark[colours[name][1]]

const declare = (theme: 'light' | 'dark') =>
  (Object.keys(colours) as ColourName[]).map((name) => `--${name}: ${readColour(name, theme)};`).join(' ')

/** The reader's theme is that of the system, unless `data-theme` of the root names one; paper is light. */
export const colourRules = `:root { color-scheme: light dark; ${declare('light')} }
@media screen and (prefers-color-scheme: dark) { :root:not([data-theme='light']) { ${declare('dark')} } }
@media screen { :root[data-theme='dark'] { color-scheme: dark; ${declare('dark')} } :root[data-theme='light'] { color-scheme: light; } }
`
