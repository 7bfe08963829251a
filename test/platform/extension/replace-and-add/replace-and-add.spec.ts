import { Global, Injectable, Module, type Type } from '@nestjs/common';
import {
  defineExtension,
  type Extension,
  type ExtensionManifest,
} from '../../../../src/platform/extension/extension.js';
import { ComplianceRule } from '../../../../src/modules/leads/lead-compliance.service.js';
import { LeadScorer } from '../../../../src/modules/leads/lead-scorer.js';
import { LeadsService } from '../../../../src/modules/leads/leads.service.js';
import {
  createLead,
  dataOf,
  expectError,
  type LeadBody,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { MessagesModule } from '../../../support/modules/messages.module.js';

@Module({})
class EmptyModule {}

@Injectable()
class FixedScorer extends LeadScorer {
  score(): number {
    return 7;
  }
}

/** Returns the leads that are asleep, like a service on the network. */
@Injectable()
class QuietHoursRule extends ComplianceRule {
  async check({ city }: { city: string | null }): Promise<string | undefined> {
    return (await Promise.resolve(city)) === 'Auckland' ? 'is asleep' : undefined;
  }
}

const named = (name: string, part: Partial<ExtensionManifest<never, never>>): Extension =>
  defineExtension({ name, module: EmptyModule, ...part });

const scorer = { provide: LeadScorer, useClass: FixedScorer };
const quietHours = { provide: ComplianceRule, useClass: QuietHoursRule };

let app: TestApp;

beforeAll(async () => {
  const extensions = [named('acme-compliance', { adds: [quietHours] })];
  app = await TestApp.start({ extensions, modules: [MessagesModule] });
});
afterAll(() => app.stop());

const start = (options: Parameters<typeof TestApp.start>[0]) =>
  TestApp.start({ ...options, database: app.database });

describe('compliance rules', () => {
  it('of an extension apply in addition to those of Latitude', async () => {
    const { api } = await app.organization();
    const send = async (lead: LeadBody) => {
      const { id } = await createLead(api, lead);
      return api.post(`${LEADS}/${id}/messages`, { text: 'Hello' });
    };
    const refused = await send({ city: 'Auckland', on_dnc_list: true });
    expectError(refused, 422, 'compliance_blocked');
    expect(refused).toMatchObject({
      body: { error: { message: 'The lead is on the do-not-call list and is asleep.' } },
    });
    expectError(await send({ city: 'Auckland' }), 422, 'compliance_blocked');
    dataOf(await send({ city: 'Paris' }), 201);
  });

  it('of Latitude do not apply if an extension replaces them', async () => {
    const extensions = [named('acme-rules', { replaces: [quietHours] })];
    const other = await start({ extensions, modules: [MessagesModule] });
    const { api } = await other.organization();
    const { id } = await createLead(api, { sms_opted_out: true });
    dataOf(await api.post(`${LEADS}/${id}/messages`, { text: 'Hello' }), 201);
    await other.stop();
  });
});

describe('startup', () => {
  it.each<[string, Extension[], string]>([
    [
      'an extension replaces what is not replaceable',
      [named('one', { replaces: [{ provide: LeadsService, useValue: {} }] })],
      'The extension one replaces LeadsService, which cannot be replaced. The classes that can be replaced are: LeadScorer',
    ],
    [
      'an extension adds to a provider that has one implementation',
      [named('one', { adds: [scorer] })],
      'The extension one adds a provider to LeadScorer, which accepts no other providers. Providers can be added to: ComplianceRule',
    ],
    [
      'two extensions replace the same provider',
      [named('one', { replaces: [scorer] }), named('two', { replaces: [scorer] })],
      'The extensions one and two both replace LeadScorer: keep one of them.',
    ],
    [
      'two extensions replace the same list',
      [named('one', { replaces: [quietHours] }), named('two', { replaces: [quietHours] })],
      'The extensions one and two both replace ComplianceRule: keep one of them.',
    ],
    [
      'an extension replaces the same provider twice',
      [named('one', { replaces: [scorer, scorer] })],
      'The extension one replaces LeadScorer twice: keep one of them.',
    ],
  ])('fails if %s', async (_, extensions, message) => {
    await expect(start({ extensions })).rejects.toThrow(message);
  });

  it.each<[Type<unknown>, string]>([
    [globalModule(LeadScorer), 'which Latitude uses only if an extension declares it in replaces.'],
    [globalModule(ComplianceRule), 'only if an extension declares it in adds or replaces.'],
  ])('fails if a global module provides %p, which Latitude would ignore', async (module, text) => {
    await expect(start({ modules: [module] })).rejects.toThrow(text);
  });

  it('fails if the module of an extension provides what the extension replaces', async () => {
    @Module({ providers: [{ provide: LeadScorer, useValue: {} }] })
    class AcmeModule {}
    const extensions = [named('acme', { module: AcmeModule, replaces: [scorer] })];
    await expect(start({ extensions })).rejects.toThrow('AcmeModule provides LeadScorer');
  });

  function globalModule(provide: Parameters<typeof Reflect.getMetadata>[1]): Type<unknown> {
    @Global()
    @Module({ providers: [{ provide: provide as never, useValue: {} }] })
    class AcmeModule {}
    return AcmeModule;
  }
});
