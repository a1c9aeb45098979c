/**
 * Members of a configuration that are enumerations, with the first word of each: its zero value. All other texts of a
 * configuration are free: an id may begin with UNKNOWN. (E2 Manager's entities: Enb, Gnb)
 */
const firstWords: ReadonlyMap<string, string> = new Map([
  ['additionalSpecialSubframePatterns', 'UNKNOWN'],
  ['additionalSpecialSubframePatternsExtension', 'UNKNOWN'],
  ['bandwidthReducedSi', 'UNKNOWN_BANDWIDTH_REDUCED_SI'],
  ['cyclicPrefixDl', 'UNKNOWN_CYCLIC_PREFIX'],
  ['cyclicPrefixUl', 'UNKNOWN_CYCLIC_PREFIX'],
  ['dlTransmissionBandwidth', 'UNKNOWN_TRANSMISSION_BANDWIDTH'],
  ['enbType', 'UNKNOWN_ENB_TYPE'],
  ['eutraMode', 'UNKNOWN'],
  ['freqBandIndicatorPriority', 'UNKNOWN_FREQ_BAND_INDICATOR_PRIORITY'],
  ['gnbType', 'UNKNOWN_GNB_TYPE'],
  ['ncnrb', 'UNKNOWN_NCNRB'],
  ['nrMode', 'UNKNOWN'],
  ['nrscs', 'UNKNOWN_NRSCS'],
  ['numberOfAntennaPorts', 'UNKNOWN_NUMBER_OF_ANTENNA_PORTS'],
  ['radioframeAllocationPeriod', 'UNKNOWN_RADIOFRAME_ALLOCATION_PERIOD'],
  ['specialSubframePatterns', 'UNKNOWN'],
  ['subframeAllocationType', 'UNKNOWN_SUBFRAME_ALLOCATION_TYPE'],
  ['subframeAssignment', 'UNKNOWN_SUBFRAME_ASSIGNMENT'],
  ['transmissionBandwidth', 'UNKNOWN_TRANSMISSION_BANDWIDTH'],
  ['ulTransmissionBandwidth', 'UNKNOWN_TRANSMISSION_BANDWIDTH'],
])

export function isFirstWord(name: string, value: unknown): boolean {
  return value !== undefined && value === firstWords.get(name)
}
