/** One declaration of an option, for the parser, the help, completion and suggestions. */
export interface Option {
  readonly type: 'string' | 'boolean'
  /** One line of the help. */
  readonly about: string
  /** The name of its value in the usage. */
  readonly value?: string
  readonly multiple?: true
  readonly choices?: readonly string[]
  /** A sentence's end says where the value comes from. */
  readonly required?: true | string
  readonly mayBeEmpty?: true
  /** The value is a path. */
  readonly isPath?: true
}

export type Options = Readonly<Record<string, Option>>

/** The values of a command line, checked by the declarations of its options. */
export type Given = Readonly<Record<string, string | boolean | string[]>>

type ValueOf<One> = One extends { type: 'boolean' }
  ? boolean
  : One extends { choices: readonly (infer Choice)[] }
    ? Choice
    : One extends { multiple: true }
      ? string[]
      : string

export type Values<Of extends Options> = {
  [Name in keyof Of as Of[Name] extends { required: true | string } ? Name : never]: ValueOf<Of[Name]>
} & {
  [Name in keyof Of as Of[Name] extends { required: true | string } ? never : Name]?: ValueOf<Of[Name]> | undefined
}

export const text = (value: string, about: string) => ({ type: 'string', value, about }) as const
export const texts = (value: string, about: string) => ({ ...text(value, about), multiple: true }) as const
export const path = (value: string, about: string) => ({ ...text(value, about), isPath: true }) as const
export const flag = (about: string) => ({ type: 'boolean', about }) as const

export const choice = <const Choice extends string>(choices: readonly Choice[], about: string) =>
  ({ type: 'string', choices, about }) as const

export const required = <One extends Option>(option: One, source: true | string = true) => ({
  ...option,
  required: source,
})

export const yes = flag('removes without asking')
export const log = path('FILE', 'appends a line for member-apps removals; keep the file apart from the database')
