import satisfies from 'semver/functions/satisfies.js';
import validRange from 'semver/ranges/valid.js';
import { namesOf, SETTING_NAMES } from '../config/settings.js';
import { VERSION } from '../config/version.js';
import { migrationsOfExtension, type ExtensionMigrations } from '../data/extension-migrations.js';
import { tableOf } from '../data/records/tenant-entity.js';
import { isCoreError } from '../errors/error-catalogue.js';
import type { Extension } from './extension.js';
import { assertExtensions, ExtensionError } from './listed-extensions.js';

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;
const SCOPE = /^[a-z][a-z0-9_-]*:(read|write|erase)$/;
const CODE = /^[a-z][a-z0-9_]*$/;
const VARIABLE = /^[A-Z][A-Z0-9_]*$/;

/**
 * Checks the extensions of an application.
 * @param features the extensions that Latitude consists of
 * @throws ExtensionError that names the extension and what is wrong, or both extensions with the same
 *   name, scope, error code, setting or table
 */
export function checkExtensions(
  features: readonly Extension[],
  extensions: readonly Extension[],
): void {
  assertExtensions(extensions);
  for (const extension of extensions) checkManifest(extension);
  const repeated = extensions.find((one, index) => extensions.indexOf(one) !== index);
  if (repeated) throw new ExtensionError(`The extension ${repeated.name} is listed twice.`);
  const all = [...features, ...extensions];
  assertClaimedOnce('name', all, ({ name }) => [name.replaceAll('-', '_')]);
  assertClaimedOnce('scope', all, ({ scopes }) => scopes);
  assertClaimedOnce('error code', all, ({ errors }) => Object.keys(errors), isCoreError);
  assertClaimedOnce(
    'setting',
    all,
    ({ settings }) => namesOf(settings),
    (name) => SETTING_NAMES.includes(name),
  );
  assertClaimedOnce('table', all, ({ entities }) => entities.map((entity) => tableOf(entity).name));
}

/** The migrations of all extensions that have any. */
export function extensionMigrationsOf(extensions: readonly Extension[]): ExtensionMigrations[] {
  return extensions
    .filter(({ migrations }) => migrations.length > 0)
    .map(({ name, migrations }) => migrationsOfExtension(name, migrations));
}

function checkManifest({
  name,
  module,
  compatibleWith,
  scopes,
  explicitScopes,
  errors,
  settings,
}: Extension): void {
  const fail = (problem: string) => {
    throw new ExtensionError(`The extension ${name} ${problem}.`);
  };
  if (!NAME.test(name)) fail('needs a name of lower-case letters, digits and hyphens');
  // The types do not allow this, but an import of a circular dependency is undefined.
  if ((module as unknown) === undefined) {
    fail('has no module. If it imports one, the two files import each other');
  }
  if (validRange(compatibleWith) === null) {
    fail(`declares compatibleWith: '${compatibleWith}', which is not a range such as ^0.4`);
  }
  if (!satisfies(VERSION, compatibleWith, { includePrerelease: true })) {
    fail(`is compatible with Latitude ${compatibleWith}, but this is ${VERSION}`);
  }
  const scope = scopes.find((one) => !SCOPE.test(one));
  if (scope)
    fail(
      `declares the scope ${scope}, which does not have the form name:read, name:write or name:erase`,
    );
  const undeclared = explicitScopes.find((one) => !scopes.includes(one));
  if (undeclared) fail(`has the explicit scope ${undeclared}, which is not one of its scopes`);
  for (const [code, { status }] of Object.entries(errors)) {
    if (!CODE.test(code)) fail(`declares the error code ${code}, which is not in snake_case`);
    if (!Number.isInteger(status) || status < 400 || status > 599) {
      fail(`declares the error code ${code} with the status ${status}, which is not 400 to 599`);
    }
  }
  const variable = Object.keys(settings).find((one) => !VARIABLE.test(one));
  if (variable) fail(`declares the setting ${variable}, which is not in UPPER_CASE`);
}

function assertClaimedOnce(
  kind: string,
  extensions: readonly Extension[],
  claimsOf: (extension: Extension) => readonly string[],
  isReserved: (claim: string) => boolean = () => false,
): void {
  const owners = new Map<string, string>();
  for (const extension of extensions) {
    for (const claim of claimsOf(extension)) {
      const owner = isReserved(claim) ? 'Latitude itself' : owners.get(claim);
      if (owner !== undefined) {
        throw new ExtensionError(
          `The ${kind} ${claim} of the extension ${extension.name} belongs to ${owner}: choose another ${kind}.`,
        );
      }
      owners.set(claim, `the extension ${extension.name}`);
    }
  }
}
