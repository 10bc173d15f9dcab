/** The statements of a migration that changes types of results: of columns that no trigger names and no function returns. */
export const retypings = Object.entries({
  Client: 'teamId',
  Person: 'firstName',
  StorageEntry: 'updatedBy',
  Group: 'name',
}).map(([table, column]) => `ALTER TABLE "${table}" ALTER COLUMN "${column}" TYPE varchar`)
