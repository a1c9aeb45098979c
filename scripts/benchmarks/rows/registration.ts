import { startDmiPlugin } from '../../simulate/dmi-plugin.js'
import { deviceIds, registerDevices } from '../devices.js'
import type { Figure } from '../figure.js'
import { startHttpCaller } from '../http-caller.js'
import { startService } from '../service.js'

const HANDLES = 60_000

/** Handles with alternate ids and properties, registered and READY. */
export async function registration(directory: string): Promise<readonly Figure[]> {
  const service = await startService(directory)
  const plugin = await startDmiPlugin()
  const caller = startHttpCaller(service.url)
  const ms = await registerDevices(caller, plugin.address, deviceIds(HANDLES))
  caller.close()
  await plugin.close()
  await service.stop()
  const perSecond = (HANDLES / ms) * 1000
  return [
    {
      what: `${HANDLES} handles registered over HTTP, 2,000 at once`,
      value: perSecond,
      unit: '/s',
      atLeast: 22,
      compared: `upstream expects 70 /s, this is ${(perSecond / 70).toFixed(0)} times that`,
    },
  ]
}
