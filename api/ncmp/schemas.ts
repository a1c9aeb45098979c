/** JSON schemas of the NCMP surface, for checks of parameters and for /openapi.json. */

const text = (description: string): object => ({ type: 'string', description })
const flag = (description: string): object => ({ type: 'string', enum: ['', 'true', 'false'], description })

export const ncmpError = {
  description: 'Refused',
  type: 'object',
  properties: {
    status: { type: 'string', examples: ['404 NOT_FOUND'] },
    message: { type: 'string' },
    details: { type: 'string' },
  },
}

export const referenceParams = {
  type: 'object',
  properties: { reference: text('Cm handle id or alternate id, percent-encoded once') },
}

export const outputAlternateId = flag('Answer alternate ids; a handle without one comes by its id')
export const outputDmiProperties = flag('Add the additional properties')
export const evidence = flag('Add `trustEvidence`: own and plugin level, since when, last heartbeat, deciding position')

export const pagingParameters = {
  limit: text('Most hits of an answer, 1 to 100,000; absent: all'),
  after: text('Cursor of the page before, from its Link header'),
}

export const demandHeaders = {
  type: 'object',
  properties: {
    'x-pulsefold-min-position': text(
      'topic/partition/offset to be reached first, several by comma; 503 when not in time',
    ),
    'x-pulsefold-max-staleness-ms': text('Greatest age of the answer, ms; 503 when staler'),
  },
}

export const actHeaders = {
  type: 'object',
  properties: {
    'x-pulsefold-actor': text('Who does this; absent: anonymous'),
    'x-pulsefold-reason': text('Why; absent: none'),
    'idempotency-key': text('Names the command: sent again, it gets its first answer'),
  },
}

const texts = { type: 'array', items: { type: 'string' } }
const textMap = { type: 'object', additionalProperties: { type: 'string' } }

export const textList = { description: 'The hits, each once, in no order', ...texts }

export const queryBody = {
  type: 'object',
  properties: {
    cmHandleQueryParameters: {
      type: 'array',
      description: 'All must hold; an empty list: every handle',
      items: {
        type: 'object',
        properties: {
          conditionName: {
            type: 'string',
            description:
              'hasAllProperties, cmHandleWithCpsPath, cmHandleWithTrustLevel; southbound also hasAllAdditionalProperties, ' +
              'cmHandleWithDmiPlugin. hasAllModules is refused: no module data is held.',
          },
          conditionParameters: { type: 'array', items: textMap },
        },
      },
    },
  },
}

export const compositeStateSchema = {
  type: 'object',
  properties: {
    cmHandleState: { type: 'string', enum: ['READY'] },
    lastUpdateTime: { type: 'string', examples: ['2022-12-31T20:30:40.000+0000'] },
    dataSyncEnabled: { type: 'boolean' },
    dataSyncState: {
      type: 'object',
      properties: {
        operational: {
          type: 'object',
          properties: { syncState: { type: 'string', enum: ['NONE_REQUESTED', 'UNSYNCHRONIZED'] } },
        },
      },
    },
  },
}

export const trustLevelSchema = {
  type: 'string',
  enum: ['NONE', 'COMPLETE'],
  description: "Effective: the lower of the handle's own level and its data plugin's",
}

const descriptions = {
  cmHandle: { type: 'string' },
  alternateId: { type: 'string' },
  cmHandleStatus: { type: 'string' },
  moduleSetTag: { type: 'string' },
  dataProducerIdentifier: { type: 'string' },
  trustLevel: trustLevelSchema,
}

export const restOutputCmHandleSchema = {
  description: 'RestOutputCmHandle',
  type: 'object',
  properties: {
    ...descriptions,
    publicCmHandleProperties: { type: 'array', items: textMap, minItems: 1, maxItems: 1 },
    cmHandleProperties: textMap,
    state: compositeStateSchema,
    trustEvidence: { type: 'object', additionalProperties: true },
  },
}

export const lightweightCmHandleSchema = {
  description: 'Lightweight cm handle',
  type: 'object',
  properties: { ...descriptions, dmiProperties: { type: 'string' }, trustEvidence: { type: 'object' } },
}

const registeredCmHandle = {
  type: 'object',
  required: ['cmHandle'],
  properties: {
    cmHandle: { type: 'string', maxLength: 255 },
    cmHandleProperties: textMap,
    publicCmHandleProperties: textMap,
    moduleSetTag: { type: 'string' },
    trustLevel: trustLevelSchema,
    alternateId: { type: 'string', maxLength: 2048 },
    dataProducerIdentifier: { type: 'string' },
    cmHandleStatus: { type: 'string' },
  },
}

export const registrationBody = {
  type: 'object',
  properties: {
    dmiPlugin: text('Address of the plugin'),
    dmiDataPlugin: text('Address of the data plugin; where there is one, its health counts'),
    dmiModelPlugin: text('Address of the model plugin'),
    dmiDatajobsReadPlugin: { type: 'string' },
    dmiDatajobsWritePlugin: { type: 'string' },
    removedCmHandles: texts,
    createdCmHandles: { type: 'array', items: registeredCmHandle },
    updatedCmHandles: { type: 'array', items: registeredCmHandle },
    upgradedCmHandles: { type: 'object', properties: { cmHandles: texts, moduleSetTag: { type: 'string' } } },
  },
}

const failureList = {
  type: 'array',
  items: {
    type: 'object',
    properties: { cmHandle: { type: 'string' }, errorCode: { type: 'string' }, errorText: { type: 'string' } },
  },
}

export const registrationFailures = {
  description: 'Some handles failed; the rest stands',
  type: 'object',
  properties: {
    failedCreatedCmHandles: failureList,
    failedUpdatedCmHandles: failureList,
    failedRemovedCmHandles: failureList,
    failedUpgradeCmHandles: failureList,
  },
}

/** The refusals that every route of this surface may answer. */
export const ncmpErrors = { '4XX': ncmpError, '5XX': ncmpError }
