import { Injectable, Module } from '@nestjs/common';
import { IsIn, IsInt, IsOptional, Min } from 'class-validator';
import type { FieldProblem } from '../../../../src/platform/errors/field-problem.js';
import {
  defineExtension,
  type ExtensionProvider,
} from '../../../../src/platform/extension/extension.js';
import {
  customFieldsSchema,
  CustomFieldsSchema,
} from '../../../../src/modules/leads/lead-custom-fields.service.js';
import type { Call } from '../../../../src/platform/data/call.js';
import {
  createLead,
  errorOf,
  expectError,
  getLead,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { connectAgent, stopWithAgents, textOf } from '../../../support/mcp/agent.js';

class LeadFields {
  @IsInt() @Min(0) budget: number;
  @IsOptional() @IsIn(['slate', 'tile']) roof?: string;
}

/** Allows the field whose name is the name of the organization. */
@Injectable()
class OwnFieldSchema extends CustomFieldsSchema {
  validate(fields: Record<string, unknown>, { tenant }: Call): FieldProblem[] {
    return Object.keys(fields)
      .filter((field) => field !== tenant.name)
      .map((field) => ({ field, message: 'is not part of your plan' }));
  }
}

@Module({})
class EmptyModule {}

const extensionWith = (provider: ExtensionProvider) =>
  defineExtension({ name: 'acme-fields', module: EmptyModule, replaces: [provider] });

describe('custom_fields with the schema of a class', () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    const useValue = customFieldsSchema(LeadFields);
    app = await TestApp.start({
      extensions: [extensionWith({ provide: CustomFieldsSchema, useValue })],
    });
    tenant = await app.organization();
  });
  afterAll(() => stopWithAgents(app));

  const create = (custom_fields?: object) =>
    tenant.api.post(LEADS, { first_name: 'Ada', custom_fields });

  it('are stored as sent if they are valid', async () => {
    const custom_fields = { budget: 12, roof: 'slate' };
    const lead = await createLead(tenant.api, { custom_fields });
    expect(await getLead(tenant.api, lead.id)).toMatchObject({ custom_fields });
  });

  it.each<[object | undefined, string[]]>([
    [{ budget: -1, roof: 'straw' }, ['custom_fields.budget', 'custom_fields.roof']],
    [{ budget: 1, color: 'red' }, ['custom_fields.color']],
    [{}, ['custom_fields.budget']],
    [undefined, ['custom_fields.budget']],
  ])('answers 400 to %j with the names of the fields', async (fields, names) => {
    const answer = await create(fields);
    expectError(answer, 400, 'validation_error');
    expect(errorOf(answer).details?.map(({ field }) => field)).toEqual(names);
  });

  it('are validated by an update that sets them, and by no other', async () => {
    const lead = await createLead(tenant.api, { custom_fields: { budget: 1 } });
    const path = `${LEADS}/${lead.id}`;
    await app.sql(`update leads set custom_fields = '{"old": true}' where id = $1`, [lead.id]);
    expect((await tenant.api.put(path, { city: 'Paris' })).status).toBe(200);
    const answer = await tenant.api.put(path, { custom_fields: { budget: 'much' } });
    expectError(answer, 400, 'validation_error');
    expect(await getLead(tenant.api, lead.id)).toMatchObject({ custom_fields: { old: true } });
  });

  it('are validated for tools, too', async () => {
    const agent = await connectAgent(app, tenant);
    const lead = { first_name: 'Ada', custom_fields: { budget: 0.5 } };
    const result = await agent.call('create_lead', lead);
    expect(result).toMatchObject({ isError: true });
    expect(textOf(result)).toContain('custom_fields.budget');
  });
});

it('custom_fields can depend on the organization', async () => {
  const provider = { provide: CustomFieldsSchema, useClass: OwnFieldSchema };
  const app = await TestApp.start({ extensions: [extensionWith(provider)] });
  const { api, id } = await app.organization();
  await app.sql(`update organizations set name = 'acme' where id = $1`, [id]);
  const answer = await api.post(LEADS, { first_name: 'A', custom_fields: { acme: 1, x: 2 } });
  const details = [{ field: 'custom_fields.x', message: 'is not part of your plan' }];
  expect(answer).toMatchObject({ status: 400, body: { error: { details } } });
  await createLead(api, { custom_fields: { acme: 1 } });
  await app.stop();
});
