import js from '@eslint/js';
import prettier from 'eslint-config-prettier';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';

const NODE_GLOBALS =
  'AbortController Buffer Request Response URL URLSearchParams __dirname console fetch globalThis performance process';
const nodeGlobals = Object.fromEntries(NODE_GLOBALS.split(' ').map((name) => [name, 'readonly']));

export default defineConfig(
  globalIgnores([
    'dist',
    'node_modules',
    'data',
    'src/client/openapi.ts',
    '.ci/clients/*/',
    'templates',
    'examples',
  ]),
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked, tseslint.configs.stylisticTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      // Nest modules and entities are classes without members.
      '@typescript-eslint/no-extraneous-class': 'off',
      // Nest injects by parameter type, so classes must be imported as values.
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      // DTO classes describe plain data, which is created and copied as literals.
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true }],
      // The caller of a query states the type of its rows.
      '@typescript-eslint/no-unnecessary-type-parameters': 'off',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: 'Settings are read in src/config.' },
      ],
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
    },
  },
  { files: ['src/config/*.ts'], rules: { 'no-restricted-properties': 'off' } },
  {
    files: ['test/**/*.ts', 'src/testing/**/*.ts', '**/*.spec.ts'],
    rules: {
      'max-lines': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      // Tests read responses whose shape they check.
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      'no-restricted-properties': 'off',
    },
  },
  {
    files: ['**/*.{mjs,cjs}'],
    languageOptions: { globals: nodeGlobals },
    rules: { 'no-unused-vars': ['error', { ignoreRestSiblings: true }] },
  },
  prettier,
);
