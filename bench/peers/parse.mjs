// Parse Server set up by its guide, on PostgreSQL; entries are objects of a class with ids chosen by the client.
import express from 'express'
import { ParseServer } from 'parse-server'

const { DATABASE_URL, PORT, APP_ID, MASTER_KEY } = process.env
const parse = new ParseServer({
  databaseURI: DATABASE_URL,
  appId: APP_ID,
  masterKey: MASTER_KEY,
  serverURL: `http://127.0.0.1:${PORT}/parse`,
  allowCustomObjectId: true,
  // The bench creates the class and its columns; a production installation does not let requests do so.
  allowClientClassCreation: false,
  silent: true,
})
await parse.start()
express().use('/parse', parse.app).listen(Number(PORT))
