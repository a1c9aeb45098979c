// The lint rules that keep the house: imports point one way only, folds are pure, promises are awaited.
import js from '@eslint/js'
import globals from 'globals'
import tseslint from 'typescript-eslint'

/** The folders in the order of their imports; each may import those before it. */
const folders = ['common', 'schemas', 'state-stores', 'topology', 'processors', 'api', 'scripts']
const direction = 'imports point one way: common <- schemas, state-stores <- topology <- processors <- api <- scripts'

/** Where each driver lives; imported anywhere else, it would leak through its port. */
const drivers = [
  { names: ['rocksdb'], home: 'state-stores' },
  { names: ['@kafkajs/confluent-schema-registry'], home: 'schemas' },
  { names: ['fastify', '@fastify/swagger'], home: 'api' },
  { names: ['kafkajs'], home: 'topology/log/kafka' },
]

const purity = {
  time: 'a fold is pure: time is context.time',
  surroundings: 'a fold is pure: everything it uses comes with the event, the rows and the settings',
  locale: 'a fold is pure: the result must not depend on the locale',
}
const banned = (names, message) => names.map((name) => ({ name, message }))

/** What the files of a folder, or of a driver's home in it, must not import. */
function importPatterns(folder, home = folder) {
  const above = folders.slice(folders.indexOf(folder) + 1)
  if (folder === 'state-stores') above.push('schemas')
  const foreign = drivers.filter((driver) => driver.home !== home).flatMap(({ names }) => names)
  return [
    { group: foreign.map((name) => `/${name}`), message: 'a driver is imported in the one folder that wraps it' },
    ...(above.length === 0 ? [] : [{ group: above.map((name) => `**/${name}/**`), message: direction }]),
  ]
}

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', '.tap/', 'data/'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      globals: globals.node,
      parserOptions: { projectService: { allowDefaultProject: ['*.js'] }, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      'no-console': 'error',
      'no-control-regex': 'off',
      eqeqeq: ['error', 'always', { null: 'ignore' }],
    },
  },
  { files: ['**/*.js', '**/*.mjs'], ...tseslint.configs.disableTypeChecked },
  ...folders.map((folder) => ({
    files: [`${folder}/**/*.ts`],
    rules: { 'no-restricted-imports': ['error', { patterns: importPatterns(folder) }] },
  })),
  {
    files: ['topology/log/kafka/**/*.ts'],
    rules: { 'no-restricted-imports': ['error', { patterns: importPatterns('topology', 'topology/log/kafka') }] },
  },
  {
    // A fold reads no clock, no chance, no network, no file: the same journal gives the same state, byte for byte.
    files: ['processors/**/*.ts'],
    ignores: ['processors/**/*.test.ts', 'processors/**/effects/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...banned(['Date', 'performance', 'setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask'], purity.time),
        ...banned(['process', 'fetch', 'crypto', 'console', 'global', 'globalThis', 'require'], purity.surroundings),
        ...banned(['Intl'], purity.locale),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: purity.surroundings },
        ...['localeCompare', 'toLocaleString', 'toLocaleUpperCase', 'toLocaleLowerCase'].map((property) => ({
          property,
          message: purity.locale,
        })),
      ],
      'no-restricted-syntax': ['error', { selector: 'ImportExpression', message: purity.surroundings }],
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            ...importPatterns('processors'),
            { regex: '^[^.]', message: `${purity.surroundings}; no package, nothing of Node` },
            {
              group: ['**/common/clock.js', '**/common/logger.js', '**/common/metrics.js'],
              message: purity.surroundings,
            },
          ],
        },
      ],
    },
  },
  { files: ['scripts/**/*.ts'], rules: { 'no-console': 'off' } },
  {
    files: ['**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/require-await': 'off',
    },
  },
)
