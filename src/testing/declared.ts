import { ORDINARY_SCOPES, SCOPES, type Scope } from '../platform/access/scopes.js';
import { ERROR_CATALOGUE } from '../platform/errors/error-catalogue.js';

/** What Latitude declares. Extensions of suites add to it later, since files of `src` run once per process. */
const scopes = [...SCOPES];
const ordinary = [...ORDINARY_SCOPES];
const errors = new Set(Object.keys(ERROR_CATALOGUE));

/** Removes the scopes and errors that the extensions of earlier suites have declared. */
export function forgetExtensions(): void {
  (SCOPES as Scope[]).splice(0, SCOPES.length, ...scopes);
  (ORDINARY_SCOPES as Scope[]).splice(0, ORDINARY_SCOPES.length, ...ordinary);
  for (const code of Object.keys(ERROR_CATALOGUE)) {
    if (!errors.has(code)) Reflect.deleteProperty(ERROR_CATALOGUE, code);
  }
}
