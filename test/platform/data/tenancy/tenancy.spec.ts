import { randomUUID } from 'node:crypto';
import type { Type } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { SCOPES } from '../../../../src/platform/access/scopes.js';
import {
  COMPLETION,
  type CompletionDeclaration,
} from '../../../../src/modules/mcp/prompts/completion.decorator.js';
import { decoratedMethods } from '../../../../src/platform/discovery/decorated-methods.js';
import { PromptRegistry } from '../../../../src/modules/mcp/prompts/prompt-registry.js';
import { ResourceRegistry } from '../../../../src/modules/mcp/resources/resource-registry.js';
import { ToolRegistry } from '../../../../src/modules/mcp/tools/tool-registry.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import {
  connectTenant,
  type McpTenant,
  type IdPosition,
  ID_POSITIONS,
  positionsIn,
} from '../../../support/id-positions.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { LAYERS, startWithLayer } from '../../../support/database/isolation.js';
import { pathOf, RECORD_ROUTES, send } from '../../../../src/testing/routes.js';
import type { StatementRecorder } from '../../../support/database/statement-recorder.js';
import { rowsAsText } from '../../../support/database/tenant-tables.js';

const ANY_UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi;
const ANY_TIME = /\d{4}-\d\d-\d\dT[\d:.]+Z/g;

const positions = ID_POSITIONS.map((position) => [position.name, position] as const);

/** Returns an answer as text, without `id` and the headers that differ in every answer. */
function visiblePart({ status, headers, body }: Answer, id: string): string {
  const variableHeaders = [
    'date',
    'x-request-id',
    'ratelimit-remaining',
    'ratelimit-reset',
    'etag',
  ];
  const shown = [...headers].filter(([name]) => !variableHeaders.includes(name));
  return JSON.stringify({ status, headers: shown, body: body as unknown })
    .replaceAll(id, '(id)')
    .replaceAll(id.toLowerCase(), '(id)');
}

function expectUnknown({ whenUnknown }: IdPosition, answer: string): void {
  if (whenUnknown === 'empty list')
    expect(answer).toMatch(/"data":\[\],.*("total":0\b|"has_more":false)/);
  else if (whenUnknown === 'no records')
    expect(answer).not.toMatch(/"type":"resource"|"values":\["/);
  else if (whenUnknown === 'kept') expect(answer).toMatch(/^\{"status":20.*:"\(id\)"/);
  else expect(answer).toContain(`"code":"${whenUnknown}"`);
}

describe('every position of an id (test/support/id-positions.ts)', () => {
  let app: TestApp;
  let ours: Tenant;
  let colleague: McpTenant;

  beforeAll(async () => {
    app = await TestApp.start();
    ours = await app.organization({ scopes: app.scopes.every });
    colleague = await connectTenant(app, await app.key(ours.id, app.scopes.every));
  });
  afterAll(() => app.stop());

  it('is listed in ID_POSITIONS', () => {
    const discovery = new DiscoveryService(app.app.get(ModulesContainer));
    const completions = decoratedMethods<CompletionDeclaration>(discovery, COMPLETION);
    const all = positionsIn(
      discovery.getControllers().map(({ metatype }) => metatype as Type<object>),
      app.app.get(ToolRegistry).listFor(new Set(SCOPES)),
      app.app.get(ResourceRegistry).templatesFor(new Set(SCOPES)),
      app.app.get(PromptRegistry).listFor(new Set(SCOPES)),
      completions.map(({ declaration }) => declaration.name),
    );
    expect(ID_POSITIONS.map(({ name }) => name).sort()).toEqual(all);
  });

  it.each(positions)(
    'accepts ids of the same organization in upper case and with another key: %s',
    async (_, position) => {
      const id = await position.makeId(ours);
      const request = await position.prepare(colleague);
      const answer = visiblePart(await request(id.toUpperCase()), id.toUpperCase());
      expect(answer).toMatch(/^\{"status":20/);
      expect(answer).not.toMatch(/"error":\{|"isError":true|"total":0\b/);
    },
  );
});

it('without filters and policies, a key reads the records of every organization', async () => {
  const { app, ours, theirs } = await startWithLayer({ filters: false, policies: false });
  for (const route of RECORD_ROUTES.filter(({ method }) => method === 'GET')) {
    const path = pathOf(route, await route.makeRecord(theirs));
    expect(await send(ours.api, route, { path })).toMatchObject({ status: 200 });
  }
  await app.stop();
});

const layers = Object.entries(LAYERS).map(([name, layer], index) => [name, layer, index] as const);

describe.each(layers)('organizations that are isolated %s', (_, layer, layerIndex) => {
  let app: TestApp;
  let tables: readonly string[];
  let statements: StatementRecorder;
  let ours: McpTenant;
  let theirs: McpTenant;

  beforeAll(async () => {
    ({ app, tables, statements, ours, theirs } = await startWithLayer(layer));
  });
  afterAll(() => app.stop());

  it('run no statement without a filter by organization', async () => {
    const { id } = await createLead(ours.api);
    expect(await ours.api.get(`${LEADS}/${id}`)).toMatchObject({ status: 200 });
    expect(statements.withoutFilter).toEqual([]);
  });

  // Each organization asks for every position with one of the layers or more. Both layers together have a third of them.
  const directions = positions
    .map(([name, position], index) => {
      const isSecond = (index + layerIndex) % 2 === 1;
      return [name, isSecond ? 'second' : 'first', position] as const;
    })
    .filter((__, index) => !(layer.filters && layer.policies) || index % 3 === 0);

  it.each(directions)(
    "answer another organization's %s like an unknown id and change no row: the %s asks",
    async (__, asking, position) => {
      const [stranger, owner] = asking === 'first' ? [ours, theirs] : [theirs, ours];
      const id = await position.makeId(owner);
      const before = await rowsAsText(app, tables, owner);

      const untouched = await position.prepare(stranger);
      const ask = async (target: string) => {
        // A request that stores the id needs a new record each time.
        const isKept = position.whenUnknown === 'kept';
        const request = isKept ? await position.prepare(stranger) : untouched;
        let answer = '';
        // The same statements in the same round trips rule out a difference in time.
        const sent = await statements.during(async () => {
          answer = visiblePart(await request(target), target);
        });
        const named = (answer.match(ANY_UUID) ?? []).map((one) => one.toLowerCase());
        const foreign = named.filter((one) => one === owner.id || before.includes(one));
        expect(foreign.filter((one) => one !== id)).toEqual([]);
        return { answer: answer.replace(ANY_UUID, '(uuid)').replace(ANY_TIME, '(time)'), sent };
      };
      const unknown = await ask(randomUUID());
      expectUnknown(position, unknown.answer);
      expect(unknown.sent).not.toEqual([]);
      expect(await ask(asking === 'first' ? id : id.toUpperCase())).toEqual(unknown);

      expect(await rowsAsText(app, tables, owner)).toBe(before);
      expect(statements.withoutFilter).toEqual([]);
    },
  );
});
