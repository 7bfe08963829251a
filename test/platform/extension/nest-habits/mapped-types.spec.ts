import { dataOf, errorOf, expectInvalid } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { MappedModule, PATH } from './mapped-types.module.js';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ modules: [MappedModule] });
  tenant = await app.organization();
});
afterAll(() => app.stop());

const get = (path: string) => tenant.api.get(`${PATH}/${path}`);
const post = (path: string, body: object) => tenant.api.post(`${PATH}/${path}`, body);
const LIST = { page: 1, limit: 50, sort_dir: 'desc' };

describe('a query of a mapped type of Nest', () => {
  it.each([
    ['named?name=a&page=2&limit=1', { ...LIST, name: 'a', page: 2, limit: 1 }],
    ['named?name=a', { ...LIST, name: 'a' }],
    ['text?text=a&limit=7', { ...LIST, text: 'a', limit: 7, tags: [] }],
    ['two?limit=7', { ...LIST, limit: 7 }],
    ['partial?limit=7', { limit: 7 }],
    ['picked', { page: 1 }],
    ['picked?page=3', { page: 3 }],
    ['extended?name=a&page=2', { ...LIST, name: 'a', page: 2 }],
  ])('reads the text of the fields and sets their defaults: %s', async (path, expected) => {
    expect(dataOf(await get(path))).toEqual(expected);
  });

  it('reports each problem of a field once', async () => {
    const answer = await get('named?page=x&limit=0&sort_dir=up');
    expectInvalid(answer, 'page', 'limit', 'sort_dir');
    expect(errorOf(answer).details).toContainEqual({
      field: 'limit',
      message: 'must be an integer from 1 to 100',
    });
    expectInvalid(await get('named?page='), 'page');
  });
});

describe('a body of a mapped type of Nest', () => {
  const SIZE = { width: 1, unit: 'cm' };

  it('of PartialType has normalized fields, without defaults', async () => {
    const changes = { name: ' a ', price: 5, size: SIZE };
    const expected = { name: 'a', price: '5.00', size: SIZE };
    expect(dataOf(await post('change', changes), 201)).toEqual(expected);
    expect(dataOf(await post('change', {}), 201)).toEqual({});
  });

  it('of PartialType keeps null, also beside other fields', async () => {
    expect(dataOf(await post('change', { price: null }), 201)).toEqual({ price: null });
    const changes = { price: null, version: 2 };
    expect(dataOf(await post('version', changes), 201)).toEqual(changes);
    expectInvalid(await post('version', { price: null }), 'version');
  });

  it('reports the problems of nested fields with their paths', async () => {
    const answer = await post('change', { size: { width: 0 }, more: 1 });
    expectInvalid(answer, 'size.width', 'size.unit', 'more');
  });

  it('of OmitType has the defaults of the other fields', async () => {
    expect(dataOf(await post('omitted', { price: null }), 201)).toEqual({ count: 3 });
    expectInvalid(await post('omitted', { name: 'a' }), 'name');
  });

  it('of UpdateOf is an update', async () => {
    expect(dataOf(await post('update', { price: null }), 201)).toEqual({ price: null });
    expectInvalid(await post('update', { count: null }), 'count');
  });
});
