/** How often a test repeats what chance decides: `npm run test:storage` and CI take the whole number, `npm test` a few. */
export const times = (whole: number, few: number) => (process.env.MODE === 'whole' ? whole : few)
