import { setLogErrors, serializeError } from './error-serializer.js';

const SECRET = 'grace@example.com';

/** An error like that of TypeORM. */
const failedQuery = (driverError: Error) =>
  Object.assign(new Error(SECRET), {
    ...{ name: 'QueryFailedError', query: SECRET, parameters: [SECRET], driverError },
  });

describe('serializeError', () => {
  beforeAll(() => {
    setLogErrors('stack');
  });

  it('returns the type, the code and the stack frames', () => {
    const error = Object.assign(new TypeError(SECRET), { code: 'ERR_INVALID_ARG_TYPE' });
    expect(serializeError(error)).toEqual({
      type: 'TypeError',
      code: 'ERR_INVALID_ARG_TYPE',
      stack: expect.stringMatching(/^ {4}at .*error-serializer\.spec\.ts:\d+:\d+\)/) as string,
    });
  });

  it.each([
    ['a message', new Error(SECRET)],
    ['a message of several lines', new Error(`a\n    at ${SECRET} (x.ts:1:1)\nb`)],
    ['properties', Object.assign(new Error('a'), { detail: SECRET, parameters: [SECRET] })],
    ['a cause', new Error('a', { cause: new Error(SECRET, { cause: SECRET }) })],
    ['a code that is an object', Object.assign(new Error('a'), { code: { SECRET } })],
    ['a failed query', failedQuery(new Error(SECRET))],
    ['several errors', new AggregateError([new Error(SECRET)], SECRET)],
    ['a thrown text', SECRET],
    ['a thrown object', { message: SECRET, stack: SECRET }],
    ['a thrown null', null],
    ['nothing', undefined],
  ])('does not return the message: %s', (_, error) => {
    expect(serializeError(error)).toEqual(expect.objectContaining({ type: expect.any(String) }));
    expect(JSON.stringify(serializeError(error))).not.toContain(SECRET);
  });

  it('returns a limited number of causes', () => {
    const driver = Object.assign(new Error('a'), { code: '42P01' });
    const error = new Error('b', { cause: failedQuery(driver) });
    expect(serializeError(error)).toMatchObject({
      cause: { type: 'QueryFailedError', cause: { type: 'Error', code: '42P01' } },
    });
    error.cause = error;
    expect(JSON.stringify(serializeError(error)).match(/"type"/g)).toHaveLength(6);
  });
});
