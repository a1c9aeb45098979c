// The lint rules that keep the house: imports point one way only, folds are pure, promises are awaited.
import js from '@eslint/js'
import globals from 'globals'
import tseslint from 'typescript-eslint'

/** Folder → the folders and packages that it must not import. */
const imports = (patterns) => ['error', { patterns: patterns.map(([group, message]) => ({ group, message })) }]
const above = (...folders) => [
  folders.flatMap((f) => [`**/${f}/**`, `**/${f}/*`]),
  `imports point one way: common <- schemas, state-stores <- topology <- processors <- api <- scripts`,
]
const drivers = [
  ['/rocksdb', '/kafkajs', '/fastify', '/@kafkajs/*'],
  'rocksdb, kafkajs, the registry and fastify are each imported in one place only',
]

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
  {
    files: ['common/**/*.ts'],
    // The one test that looks at the error tables of all folders.
    ignores: ['common/error-codes.test.ts'],
    rules: {
      'no-restricted-imports': imports([
        above('schemas', 'state-stores', 'topology', 'processors', 'api', 'scripts'),
        drivers,
      ]),
    },
  },
  {
    files: ['schemas/**/*.ts'],
    rules: { 'no-restricted-imports': imports([above('state-stores', 'topology', 'processors', 'api', 'scripts')]) },
  },
  {
    files: ['state-stores/**/*.ts'],
    rules: { 'no-restricted-imports': imports([above('schemas', 'topology', 'processors', 'api', 'scripts')]) },
  },
  {
    files: ['topology/**/*.ts'],
    rules: { 'no-restricted-imports': imports([above('processors', 'api', 'scripts'), drivers]) },
  },
  {
    files: ['processors/**/*.ts'],
    rules: { 'no-restricted-imports': imports([above('api', 'scripts'), drivers]) },
  },
  {
    // A fold reads no clock, no chance, no network, no file: the same journal gives the same state, byte for byte.
    files: ['processors/**/*.ts'],
    ignores: ['processors/**/*.test.ts', 'processors/**/effects/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...[
          'Date',
          'performance',
          'process',
          'setTimeout',
          'setInterval',
          'setImmediate',
          'queueMicrotask',
          'fetch',
        ].map((name) => ({
          name,
          message: 'a fold is pure: time is context.time, everything else comes with the event',
        })),
        ...['crypto', 'Intl'].map((name) => ({ name, message: 'a fold is pure: no chance, no locale' })),
      ],
      'no-restricted-properties': [
        'error',
        { object: 'Math', property: 'random', message: 'a fold is pure: no chance' },
        { property: 'toLocaleString', message: 'a fold is pure: no locale' },
        { property: 'localeCompare', message: 'a fold is pure: no locale' },
      ],
      'no-restricted-imports': imports([
        above('api', 'scripts'),
        [['node:*', 'rocksdb', 'kafkajs', 'fastify', 'pino', 'undici', '@kafkajs/*'], 'a fold is pure'],
      ]),
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
