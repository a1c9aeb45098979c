/** The domain of these routes. */
export const ADDRESS_HEALTH = 'address-health'
