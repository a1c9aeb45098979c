import type { RoutingManagerCalled } from '../../schemas/keep-alive/journal-events.js'
import type { Context } from './context.js'
import { forget } from './kill.js'
import { registrationEnded } from './registration.js'
import { settleCall } from './routing-manager.js'
import { associationEnded } from './setup.js'

/** What follows from the end of a call of the Routing Manager. One that was withdrawn meanwhile changes nothing. */
export function routingManagerCalled(called: RoutingManagerCalled, context: Context): void {
  const settled = settleCall(context, called)
  if (settled === undefined) return
  const { ric, succeeded } = called
  const { address, ranName, row } = settled
  switch (row.purpose) {
    case 'register':
      registrationEnded(context, ric, address, succeeded)
      break
    case 'associate': {
      const { transactionId } = row
      if (row.isAwaited) associationEnded(context, { ric, ranName, address, transactionId }, succeeded)
      break
    }
    case 'delete':
      forget(context, ric, address, 'routingManagerTold')
      break
    case 'dissociate':
      break
  }
}
