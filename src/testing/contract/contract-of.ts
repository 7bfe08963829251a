import type { Extension } from '../../platform/extension/extension.js';
import type { TestApp } from '../test-app.js';
import { ContractChecks } from './contract-checks.js';
import type { Samples } from './contract-routes.js';

export interface ContractOptions extends Omit<
  Parameters<typeof TestApp.start>[0] & object,
  'database'
> {
  readonly samples?: Samples;
}

/**
 * Declares the suites that every extension must pass, over its routes and tools: access, separation of
 * organizations, and hostile input. Call it at the top level of a spec.
 * @param samples a valid body for each POST; without one, no record of that route is created
 */
export function contractOf(
  extension: Extension,
  { samples = {}, ...options }: ContractOptions = {},
): void {
  describe(`the contract of the extension ${extension.name}`, () => {
    let checks: ContractChecks;

    beforeAll(async () => {
      checks = await ContractChecks.start(extension, samples, options);
      checks.assertSamples();
    });
    afterAll(() => checks.stop());

    it('refuses requests without a key', () => checks.refusesMissingKeys());

    it('refuses keys that lack the scope of a route', () => checks.refusesMissingScopes());

    it('hides the records of an organization from all others', () => checks.hidesRecords());

    it('answers hostile input without a status of 500 and above', () =>
      checks.handlesHostileInput());

    it('has tools that refuse keys without their scope', () =>
      checks.refusesMissingScopesOfTools());

    it('has tools that answer hostile arguments without an internal error', () =>
      checks.handlesHostileArguments());
  });
}
