import { Injectable, Module } from '@nestjs/common';
import { LeadsModule } from '../../../../src/modules/leads/leads.module.js';
import { LeadsService } from '../../../../src/modules/leads/leads.service.js';
import { Tool } from '../../../../src/modules/mcp/tools/tool.decorator.js';
import { TasksModule } from '../../../../src/modules/tasks/tasks.module.js';
import { TasksService } from '../../../../src/modules/tasks/tasks.service.js';
import type { Call } from '../../../../src/platform/data/call.js';
import { DeletedDto } from '../../../../src/platform/fields/deleted.dto.js';
import { Uuid } from '../../../../src/platform/fields/kinds/kinds.js';
import { createLead, dataOf, getLead, LEADS } from '../../../../src/testing/factories.js';
import { McpHttpClient, STATELESS_META } from '../../../../src/testing/mcp-client.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';

const TASKS = '/api/v1/tasks';

class ClosedTaskDto {
  @Uuid({ required: true, description: 'A task of the lead.' }) task_id: string;
}

@Injectable()
class ClosingTools {
  constructor(
    private readonly leads: LeadsService,
    private readonly tasks: TasksService,
  ) {}

  @Tool('close_lead', {
    title: 'Close a lead',
    description: 'Complete a task of a lead, note why, and delete the lead.',
    effect: 'deletes',
    scope: 'leads:write',
    id: 'Id of the lead.',
    resource: 'lead',
    input: ClosedTaskDto,
    output: DeletedDto,
  })
  async close(call: Call, id: string, { task_id }: ClosedTaskDto) {
    await this.tasks.update(call, task_id, { status: 'completed' });
    await this.leads.update(call, id, { notes: 'Closed.' });
    return this.leads.delete(call, id);
  }

  @Tool('close_nothing', {
    title: 'Close nothing',
    description: 'Delete nothing.',
    effect: 'deletes',
    scope: 'leads:write',
    output: DeletedDto,
  })
  nothing({ tenant: { id } }: Call) {
    return { id, deleted: true };
  }
}

@Module({ imports: [LeadsModule, TasksModule], providers: [ClosingTools] })
class ClosingModule {}

interface Result {
  readonly requestState?: string;
  readonly inputRequests?: { readonly confirm: { readonly params: { readonly message: string } } };
  readonly structuredContent?: object;
}

describe("a team's tool that asks the user", () => {
  let app: TestApp;
  let owner: Tenant;
  let askingKey: Tenant;

  beforeAll(async () => {
    app = await TestApp.start({ modules: [ClosingModule] });
    owner = await app.organization();
    askingKey = await app.key(owner.id, undefined, { confirmations: 'ask' });
  });
  afterAll(() => app.stop());

  /** @param state the `requestState` of the question that the user accepts */
  async function call(name: string, args: object, state?: string): Promise<Result> {
    const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
    const confirm = { action: 'accept', content: { confirm: true } };
    const answer = { inputResponses: { confirm }, requestState: state };
    const { body } = await new McpHttpClient(app.url, askingKey.key.key).statelessRpc(
      'tools/call',
      {
        name,
        arguments: args,
        ...(state !== undefined && answer),
        _meta: { ...STATELESS_META, ...capabilities },
      },
    );
    return (body as { result: Result }).result;
  }

  it('needs one confirmation to change another record and, several times, its own', async () => {
    const lead = await createLead(owner.api);
    const task = dataOf(await owner.api.post(TASKS, { title: 'Call', contact_id: lead.id }), 201);
    // The record is the same in upper case.
    const args = { id: lead.id.toUpperCase(), task_id: task.id };
    const { requestState } = await call('close_lead', args);
    expect(requestState).toBeDefined();
    const { structuredContent } = await call('close_lead', args, requestState);
    expect(structuredContent).toMatchObject({ deleted: true });
    expect((await owner.api.get(`${LEADS}/${lead.id}`)).status).toBe(404);
    expect(dataOf(await owner.api.get(`${TASKS}/${task.id}`))).toMatchObject({
      status: 'completed',
    });
  });

  it('asks again if its record has changed, and changes nothing', async () => {
    const lead = await createLead(owner.api);
    const task = dataOf(await owner.api.post(TASKS, { title: 'Call' }), 201);
    const args = { id: lead.id, task_id: task.id };
    const { requestState } = await call('close_lead', args);
    await owner.api.put(`${LEADS}/${lead.id}`, { city: 'Oakland' });
    expect(await call('close_lead', args, requestState)).toHaveProperty('inputRequests');
    expect(await getLead(owner.api, lead.id)).toMatchObject({ city: 'Oakland', notes: null });
    expect(dataOf(await owner.api.get(`${TASKS}/${task.id}`))).toMatchObject({ status: 'open' });
  });

  it('asks by its title if it is about no record', async () => {
    const { inputRequests } = await call('close_nothing', {});
    expect(inputRequests?.confirm.params.message).toBe('Close nothing?');
  });
});
