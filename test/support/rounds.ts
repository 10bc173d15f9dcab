/** The number of rounds of a test that chance decides: `few` in `npm test`, `whole` in `npm run verify`. */
export const times = (whole: number, few: number) => (process.env.MODE === 'whole' ? whole : few)
