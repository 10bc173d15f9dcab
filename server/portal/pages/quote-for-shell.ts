/** One word of a command to copy, whatever it contains: a colleague's redirect URI may have quotes and `$(…)`. */
export const quoteForShell = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
