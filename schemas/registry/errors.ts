import { PulsefoldError } from '../../common/errors.js'
import type { ErrorTable } from '../../common/errors.js'

export const registryErrors = {
  REGISTRY_UNAVAILABLE: {
    action: 'Check the schema registry and `schemaRegistryUrl`; records wait until it answers.',
    retryable: true,
  },
} as const satisfies ErrorTable

/** The schema registry could not tell; nothing is wrong with the record. */
export class SchemaRegistryError extends PulsefoldError<keyof typeof registryErrors> {
  constructor(
    code: keyof typeof registryErrors,
    message: string,
    context?: ConstructorParameters<typeof PulsefoldError>[3],
  ) {
    super(registryErrors, code, message, context)
  }
}
