/** A JSON schema (draft 7, which every registry takes), as JSON. `title` names what it describes. */
export type JsonSchema = Readonly<Record<string, unknown>> & { readonly title: string }

export const JSON_SCHEMA_DRAFT = 'http://json-schema.org/draft-07/schema#'
