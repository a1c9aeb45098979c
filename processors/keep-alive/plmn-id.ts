/** Country and network code as E2AP writes them: two decimal digits an octet, the halves swapped, a missing digit F. (3GPP TS 24.008) */
export function plmnIdOf(mcc: string, mnc: string): string {
  const [m1 = '', m2 = '', m3 = ''] = mcc
  const [n1 = '', n2 = '', n3 = 'F'] = mnc
  return m2 + m1 + n3 + m3 + n2 + n1
}
