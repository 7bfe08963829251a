import {
  type ClientOptions,
  etagOf,
  type LatitudeClient,
  type LeadUpdate,
} from '../../src/client/index.js';
import { answer, clientOf, sent } from '../support/scripted-client.js';

const ID = '01a1fbde-995e-72a3-a032-ab1c988b9794';

const circular: LeadUpdate & { itself?: object } = {};
circular.itself = circular;

beforeEach(() => {
  sent.length = 0;
});

describe('an invalid option of the client', () => {
  it.each<[string, Partial<ClientOptions>]>([
    ['baseUrl', { baseUrl: 'crm.test' }],
    ['baseUrl', { baseUrl: '/' }],
    ['baseUrl', { baseUrl: 'https://user:secret@crm.test' }],
    ['baseUrl', { baseUrl: 'https://user@crm.test' }],
    ['baseUrl', { baseUrl: 'https://crm.test/?tenant=7' }],
    ['baseUrl', { baseUrl: 'https://crm.test/#start' }],
    ['apiKey', { apiKey: '' }],
    ['apiKey', { apiKey: 'lat_\nx' }],
    ['fetch', { fetch: {} as typeof fetch }],
    ['maxAttempts', { maxAttempts: 0 }],
    ['timeoutMs', { timeoutMs: -1 }],
  ])('is refused with a TypeError that names %s: %j', (name, options) => {
    expect(() => clientOf([], options)).toThrow(TypeError);
    expect(() => clientOf([], options)).toThrow(new RegExp(`^${name} must `));
  });

  it('is not repeated in the error if it contains a password', () => {
    const create = () => clientOf([], { baseUrl: 'https://user:secret@crm.test' });
    expect(create).toThrow('baseUrl must not contain a user name or password');
    expect(create).not.toThrow('secret');
  });
});

describe('an invalid argument of a call', () => {
  it.each<[string, string, (client: LatitudeClient) => Promise<unknown>]>([
    ['id', 'empty', ({ leads }) => leads.get('')],
    ['id', '.', ({ leads }) => leads.delete('.')],
    ['id', '..', ({ appointments }) => appointments.cancel('..')],
    ['id', 'undefined', ({ leads }) => leads.update(undefined as unknown as string, {})],
    ['id', 'half of a character', ({ leads }) => leads.get('\ud83d')],
    ['fields', 'a BigInt', ({ tasks }) => tasks.create({ title: 7n as unknown as string })],
    ['fields', 'NaN', ({ leads }) => leads.update(ID, { custom_fields: { budget: NaN } })],
    ['filter', 'NaN', ({ leads }) => leads.list({ filter: { lead_score: { gte: NaN } } })],
    [
      'filter',
      'undefined in a list',
      ({ leads }) => leads.counts({ by: 'city', filter: { or: [undefined as never] } }),
    ],
    [
      'fields',
      'undefined in a list',
      ({ leads }) => leads.update(ID, { custom_fields: { sizes: [undefined] } }),
    ],
    [
      'fields',
      'an invalid date',
      ({ tasks }) => tasks.update(ID, { due_date: new Date(NaN) as unknown as string }),
    ],
    ['fields', 'a cycle', ({ leads }) => leads.update(ID, circular)],
    ['fields', 'undefined', ({ leads }) => leads.update(ID, undefined as unknown as LeadUpdate)],
    ['idempotencyKey', 'Cyrillic', create('ключ')],
    ['idempotencyKey', 'two lines', create('order\n7')],
    ['idempotencyKey', 'empty', create('')],
    ['ifMatch', 'Cyrillic', update('"ключ"')],
    ['ifMatch', 'two lines', update('"1"\r\nX-Other: 2')],
    ['ifMatch', 'empty', update('')],
    ['ifMatch', 'undefined', update(undefined)],
    ['ifMatch', 'the tag of a copy', update(etagOf({ id: ID }))],
    ['ifMatch', 'undefined', ({ tasks }) => tasks.delete(ID, { ifMatch: undefined })],
    ['maxAttempts', '0', ({ leads }) => leads.get(ID, { maxAttempts: 0 })],
    ['timeoutMs', 'NaN', ({ leads }) => leads.get(ID, { timeoutMs: NaN })],
  ])('rejects with a TypeError that names %s, and sends nothing: %s', async (name, _, call) => {
    const failure: unknown = await call(clientOf([])).catch((reason: unknown) => reason);
    expect(failure).toBeInstanceOf(TypeError);
    expect((failure as TypeError).message).toMatch(new RegExp(`^${name} must `));
    expect(sent).toEqual([]);
  });

  it('has the reason of JSON.stringify as its cause', async () => {
    const call = clientOf([]).leads.update(ID, circular);
    await expect(call).rejects.toThrow('fields must be');
    await expect(call).rejects.toMatchObject({ cause: expect.any(TypeError) });
  });
});

describe('a valid argument', () => {
  it.each(['*', '"1"', 'W/"1", "2"'])('ifMatch %s is sent as it is', async (ifMatch) => {
    await clientOf([answer(200, { data: { id: ID } })]).leads.update(ID, {}, { ifMatch });
    expect(sent[0]!.init.headers['If-Match']).toBe(ifMatch);
  });

  it('baseUrl with a path is the prefix of every address', async () => {
    const options = { baseUrl: 'https://crm.test/api@2/' };
    await clientOf([answer(200, { data: { id: ID } })], options).leads.get(ID);
    expect(sent[0]!.url).toBe(`https://crm.test/api@2/api/v1/leads/${ID}`);
  });
});

describe('in a page', () => {
  const { Request: OfNode } = globalThis;
  beforeEach(() => {
    jest
      .spyOn(globalThis, 'Request')
      .mockImplementation(
        (address) => new OfNode(new URL(address, 'https://crm.test/prefix/console/')),
      );
  });
  afterEach(() => jest.restoreAllMocks());

  it.each([
    ['/', 'https://crm.test'],
    ['../', 'https://crm.test/prefix'],
    ['/api@2/', 'https://crm.test/api@2'],
  ])('baseUrl %s is %s', async (baseUrl, address) => {
    const client = clientOf([answer(200, { data: { id: ID } })], { baseUrl });
    await client.leads.get(ID);
    expect(sent[0]!.url).toBe(`${address}/api/v1/leads/${ID}`);
  });

  it.each(['..', '//other.test/', '/?tenant=7', '/#start', 'crm.test'])(
    'baseUrl %s is refused',
    (baseUrl) => {
      expect(() => clientOf([], { baseUrl })).toThrow(/^baseUrl must /);
    },
  );
});

function create(idempotencyKey: string) {
  return ({ leads }: LatitudeClient) => leads.create({ first_name: 'Ada' }, { idempotencyKey });
}

function update(ifMatch: string | undefined) {
  return ({ leads }: LatitudeClient) => leads.update(ID, { company: 'Navy' }, { ifMatch });
}
