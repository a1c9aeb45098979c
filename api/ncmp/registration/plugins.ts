import { normalisePluginAddress } from '../../../common/plugin-address.js'
import type { PluginAddressPolicy } from '../../../common/plugin-address.js'
import type { DmiPluginNames } from '../../../schemas/trust-level/journal-events.js'
import { ApiError } from '../../errors.js'
import { scalarText } from '../json-values.js'

/**
 * The plugin addresses of a registration, each normalised, "" where blank or absent. Errors: DMI_PLUGIN_INVALID, naming the
 * member and never repeating the address, which may hold credentials. (trust levels, section 9)
 */
export function parsePlugins(body: Readonly<Record<string, unknown>>, policy: PluginAddressPolicy): DmiPluginNames {
  const address = (member: keyof DmiPluginNames): string => {
    const value = body[member]
    if (value === undefined || value === null) return ''
    const text = scalarText(value)?.trim()
    if (text === undefined) throw new ApiError('BODY_INVALID', `${member} is not a text`)
    if (text === '') return ''
    const normalised = normalisePluginAddress(text, policy)
    if (!normalised.ok) {
      throw new ApiError('DMI_PLUGIN_INVALID', `${member} ${normalised.reason}`, { title: `Invalid ${member}` })
    }
    return normalised.address
  }
  return {
    dmiPlugin: address('dmiPlugin'),
    dmiDataPlugin: address('dmiDataPlugin'),
    dmiModelPlugin: address('dmiModelPlugin'),
    dmiDatajobsReadPlugin: address('dmiDatajobsReadPlugin'),
    dmiDatajobsWritePlugin: address('dmiDatajobsWritePlugin'),
  }
}
