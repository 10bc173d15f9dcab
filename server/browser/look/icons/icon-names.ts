/** The icons of Lucide in use. The build reads the names here, and takes no others of the package's 1,856. */
export const iconNames = [
  'chart-column',
  'circle-check',
  'circle-x',
  'clock',
  'inbox',
  'info',
  'pencil',
  'plus',
  'send',
  'trash',
] as const

export type IconName = (typeof iconNames)[number]
