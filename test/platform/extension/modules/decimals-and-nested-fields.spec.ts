import type { JsonSchema } from '../../../../src/platform/fields/schema/json-schema.js';
import type { OpenApiDocument } from '../../../../src/platform/http/openapi/model.js';
import { contractOf } from '../../../../src/testing/contract/contract-of.js';
import { dataOf, errorOf, expectError } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';
import { type OrderDto, ordersExtension, readTypes } from '../extensions/orders.extension.js';

const ORDERS = '/api/v1/orders';

const ORDER = {
  total: '12345678901234567.80',
  discount: 12.5,
  address: { city: ' Bern ', since: '2026-01-02' },
  items: [{ name: 'Pen', price: 1.2 }],
};

const STORED = {
  total: '12345678901234567.80',
  discount: '12.500',
  address: { city: 'Bern', zip: null, since: '2026-01-02T00:00:00.000Z' },
  items: [{ name: 'Pen', price: '1.20', quantity: 1 }],
};

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ extensions: [ordersExtension] });
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => stopWithAgents(app));

type Order = { id: string } & Record<keyof OrderDto, unknown>;

async function createOrder(order: object = ORDER): Promise<Order> {
  return dataOf<Order>(await tenant.api.post(ORDERS, order), 201);
}

describe('a record with decimals and nested objects', () => {
  it('has exact decimals and complete nested objects', async () => {
    const order = await createOrder();
    expect(order).toMatchObject(STORED);
    expect(dataOf(await tenant.api.get(`${ORDERS}/${order.id}`))).toEqual(order);
  });

  it('has null and an empty array for omitted optional fields', async () => {
    expect(await createOrder({ total: 1 })).toMatchObject({
      ...{ total: '1.00', discount: null, address: null, items: [] },
    });
  });

  it('is listed in the order of its decimal', async () => {
    for (const total of ['9', '-1', '10.5']) await createOrder({ total });
    const { body } = await tenant.api.get(`${ORDERS}?sort_dir=asc`);
    expect(body).toMatchObject({
      data: [{ total: '-1.00' }, { total: '9.00' }, { total: '10.50' }],
    });
  });

  it('keeps its version when an update sends the same values in another form', async () => {
    const { id } = await createOrder();
    const { headers } = await tenant.api.get(`${ORDERS}/${id}`);
    const { address, items } = STORED;
    const same = {
      discount: '12.5',
      items,
      address: { ...address, since: '2026-01-02T01:00+01:00' },
    };
    const answer = await tenant.api.put(`${ORDERS}/${id}`, same);
    expect(dataOf(answer)).toMatchObject(STORED);
    expect(answer.headers.get('etag')).toBe(headers.get('etag'));
  });

  it('has a new nested object as a whole after an update, and null to clear it', async () => {
    const { id } = await createOrder();
    const put = async (changes: object) =>
      dataOf<Order>(await tenant.api.put(`${ORDERS}/${id}`, changes));
    expect((await put({ address: { city: 'Wien' }, items: [] })).address).toEqual({
      ...{ city: 'Wien', zip: null, since: null },
    });
    expect(await put({ address: null })).toMatchObject({ address: null, items: [] });
  });

  it('has dates in its nested objects when a service reads it', async () => {
    const { id } = await createOrder();
    readTypes.length = 0;
    dataOf(await tenant.api.put(`${ORDERS}/${id}`, { total: 2 }));
    expect(new Set(readTypes)).toEqual(new Set(['Date']));
  });

  it.each<[string, object, string[]]>([
    ['a decimal', { total: '1.234' }, ['total']],
    ['a bound', { total: 1, discount: 100.5 }, ['discount']],
    ['an object', { total: 1, address: 'Bern' }, ['address']],
    ['a list', { total: 1, items: {} }, ['items']],
    ['the size of a list', { total: 1, items: [{}, {}, {}, {}] }, ['items']],
    [
      'fields of nested objects',
      {
        total: 1,
        address: { zip: 1, more: 1 },
        items: [{ name: 'a', price: 1 }, { price: 'x' }, 3],
      },
      ['address.more', 'address.city', 'address.zip', 'items.1.name', 'items.1.price', 'items.2'],
    ],
  ])('names the path of what is wrong: %s', async (_, body, fields) => {
    const answer = await tenant.api.post(ORDERS, body);
    expectError(answer, 400, 'validation_error');
    expect(errorOf(answer).details?.map(({ field }) => field)).toEqual(fields);
  });
});

describe('the descriptions of decimals and nested objects', () => {
  it('are in the OpenAPI document', async () => {
    const document = (await app.client().get('/openapi.json')).body as OpenApiDocument;
    const { CreateOrder, Order } = document.components.schemas as Record<string, JsonSchema>;
    expect(CreateOrder!.properties).toMatchObject({
      total: { type: ['string', 'number'], format: 'decimal', pattern: expect.any(String) },
      discount: { type: ['string', 'number', 'null'], minimum: 0, maximum: 100 },
      address: { type: ['object', 'null'], required: ['city'], additionalProperties: false },
      items: { type: ['array', 'null'], maxItems: 3, items: { required: ['name', 'price'] } },
    });
    expect(Order!.properties).toMatchObject({
      total: { type: 'string', format: 'decimal', examples: ['12.50'] },
      address: { type: ['object', 'null'], required: ['city', 'zip', 'since'] },
      items: { type: 'array', items: { required: ['name', 'price', 'quantity'] } },
    });
  });

  it('are in the schema of a tool, which creates the same record', async () => {
    const agent = await connectAgent(app, tenant);
    const tools = await agent.listTools();
    const { inputSchema } = tools.find(({ name }) => name === 'create_order')!;
    expect(inputSchema.properties).toMatchObject({
      total: { type: 'string', description: 'The sum. A decimal number, such as 12.50.' },
      address: { type: 'object', properties: { city: { type: 'string' } } },
      items: { type: 'array', items: { type: 'object', required: ['name', 'price'] } },
    });
    expect(await agent.succeed('create_order', ORDER)).toMatchObject(STORED);
  });
});

contractOf(ordersExtension, { samples: { [`POST ${ORDERS}`]: () => ORDER } });
