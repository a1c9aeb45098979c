import { PulsefoldError } from '../../common/errors.js'
import type { ErrorTable } from '../../common/errors.js'

export const registryErrors = {
  REGISTRY_UNAVAILABLE: {
    action: 'Check the schema registry and `schemaRegistryUrl`; records wait until it answers.',
    retryable: true,
  },
  SCHEMA_REFUSED: {
    action:
      "The registry's own rule for the subject forbids the schema: change the rule, or the subject by another `applicationId` or topic.",
  },
} as const satisfies ErrorTable

/** The schema registry could not tell, or does not take a schema of ours; nothing is wrong with any record. */
export class SchemaRegistryError extends PulsefoldError<keyof typeof registryErrors> {
  constructor(
    code: keyof typeof registryErrors,
    message: string,
    context?: ConstructorParameters<typeof PulsefoldError>[3],
  ) {
    super(registryErrors, code, message, context)
  }
}
