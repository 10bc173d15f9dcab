/** Where the build writes the generated documents, and the service reads them; none beside the sources. */
export const documentsFile = new URL('documents.json', import.meta.url)
