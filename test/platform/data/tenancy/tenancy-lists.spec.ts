import { randomUUID } from 'node:crypto';
import type { Answer } from '../../../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  dataOf,
  errorOf,
  LEADS,
} from '../../../../src/testing/factories.js';
import { connectTenant, type McpTenant } from '../../../support/id-positions.js';
import type { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { LAYERS, startWithLayer } from '../../../support/database/isolation.js';
import { LIST_ROUTES, routeName, pathOf, send } from '../../../../src/testing/routes.js';
import type { StatementRecorder } from '../../../support/database/statement-recorder.js';
import { LIST_TOOLS } from '../../../support/mcp/tools.js';

/** Queries whose totals come from the counters, from count(*) or from a search. */
const LIST_QUERIES: Readonly<Record<string, readonly string[]>> = {
  '/api/v1/leads': [
    'search=lovelace',
    'status=new',
    'temperature=warm',
    'created_after=2000-01-01',
  ],
  '/api/v1/appointments': ['status=scheduled', 'start_after=2000-01-01', 'sort_by=created_at'],
  '/api/v1/tasks': ['status=open', 'sort_by=due_date', 'sort_by=priority&sort_dir=asc'],
};

describe.each(Object.entries(LAYERS))('lists of organizations that are isolated %s', (_, layer) => {
  let app: TestApp;
  let statements: StatementRecorder;
  let ours: McpTenant;
  let theirs: McpTenant;

  beforeAll(async () => {
    ({ app, statements, ours, theirs } = await startWithLayer(layer));
  });
  afterAll(() => app.stop());

  describe.each(LIST_ROUTES.map((route) => [routeName(route), route] as const))(
    '%s',
    (__, route) => {
      const tool = LIST_TOOLS.find((candidate) => candidate.route === route);
      // The filters of lists are those of each layer alone.
      const isBoth = layer.filters && layer.policies;

      it('returns the records of the organization and their total, and no others', async () => {
        const [us, them, nobody] = await Promise.all([join(), join(), join()]);
        const ourIds = [await route.listed(us), await route.listed(us)].sort();
        const theirIds = [await route.listed(them)];
        for (const query of ['', ...(isBoth ? [] : (LIST_QUERIES[route.pattern] ?? []))]) {
          expect({ query, ...(await list(us, query)) }).toEqual({ query, ids: ourIds, total: 2 });
          expect({ query, ...(await list(them, query)) }).toEqual({
            query,
            ids: theirIds,
            total: 1,
          });
          expect({ query, ...(await list(nobody, query)) }).toEqual({ query, ids: [], total: 0 });
          const second = await list(us, `${query}&limit=1&page=2`);
          expect(second.total).toBe(2);
          expect(ourIds).toEqual(expect.arrayContaining(second.ids));
          expect(second.ids).toHaveLength(1);
        }
        expect(statements.withoutFilter).toEqual([]);
      });

      it('returns the records of the right organization to concurrent requests on shared connections', async () => {
        const parties = await Promise.all([join(), join()]);
        const ids = await Promise.all(parties.map((party) => route.listed(party)));
        const questions = Array.from({ length: 10 }, async (___, i) => {
          const path = pathOf(route);
          expect(pageOf(await send(parties[i % 2]!.api, route, { path }))).toEqual({
            ids: [ids[i % 2]],
            total: 1,
          });
        });
        await Promise.all(questions);
      });

      async function join(): Promise<McpTenant> {
        return connectTenant(app, await app.organization());
      }

      /** Requests the list from REST, and expects the same from the tool if there is one. */
      async function list(party: McpTenant, query: string): Promise<Page> {
        const answer = await send(party.api, route, { path: `${pathOf(route)}?${query}` });
        if (!tool) return pageOf(answer);
        const args = [...new URLSearchParams(query)].map(([name, value]) => {
          return [name, name === 'limit' || name === 'page' ? Number(value) : value];
        });
        const call = { name: tool.name, arguments: Object.fromEntries(args) as object };
        const { body } = await party.rpc('tools/call', call);
        expect(pageOf({ ...answer, body: body.result.structuredContent })).toEqual(pageOf(answer));
        return pageOf(answer);
      }
    },
  );

  describe('uniqueness and search', () => {
    const WRITES: Readonly<Record<string, (by: McpTenant, body: object) => Promise<Answer>>> = {
      POST: (by, body) => by.api.post(LEADS, { first_name: 'Ada', ...body }),
      PUT: async (by, body) => by.api.put(`${LEADS}/${(await createLead(by.api)).id}`, body),
    };

    it.each(Object.entries(WRITES))(
      "%s accepts the e-mail and phone of another organization's lead",
      async (__, write) => {
        const { email, phone } = await createLead(theirs.api, buildLead());
        expect((await write(ours, { email, phone })).status).toBeLessThan(300);
      },
    );

    it.each(Object.entries(WRITES))(
      '%s returns only the lead of the same organization as existing_id',
      async (__, write) => {
        const foreign = await createLead(theirs.api, buildLead());
        const { email, phone } = foreign;
        const own = await createLead(ours.api, { email, phone });
        const answer = await write(ours, { email, phone });
        expect(answer.status).toBe(409);
        const existing = errorOf(answer).details!.map(({ field, existing_id: id }) => [field, id]);
        expect(existing).toEqual([
          ['email', own.id],
          ['phone', own.id],
        ]);
        const call = { name: 'create_lead', arguments: { first_name: 'Ada', email, phone } };
        const result = JSON.stringify((await ours.rpc('tools/call', call)).body);
        expect(result).toContain(own.id);
        expect(result).not.toContain(foreign.id);
      },
    );

    it('search finds no lead of another organization', async () => {
      const lead = await createLead(theirs.api, buildLead({ last_name: `Zq${randomUUID()}` }));
      for (const term of [lead.last_name!, lead.email!, lead.phone!]) {
        const path = `${LEADS}?search=${encodeURIComponent(term)}`;
        expect(pageOf(await theirs.api.get(path)).total).toBe(1);
        expect(pageOf(await ours.api.get(path))).toEqual({ ids: [], total: 0 });
      }
    });
  });
});

interface Page {
  readonly ids: string[];
  readonly total: number;
}

/** Returns the sorted ids of a page and the total of the list. */
function pageOf(answer: Answer): Page {
  const ids = dataOf<Pick<Tenant, 'id'>[]>(answer).map(({ id }) => id);
  return { ids: ids.sort(), total: answer.body.meta.total as number };
}
