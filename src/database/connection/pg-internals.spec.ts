import pg from 'pg';
import { Query, streamOf, wireConnectionOf } from './pg-internals.js';

describe('the internals of pg that the database code relies on', () => {
  const client = new pg.Client();

  it.each(['parse', 'bind', 'execute'] as const)('a connection has the method %s', (method) => {
    expect(typeof wireConnectionOf(client)[method]).toBe('function');
  });

  it.each(['parsedStatements', 'submittedNamedStatements'] as const)(
    'a connection has the map %s',
    (map) => {
      expect(wireConnectionOf(client)[map]).toEqual({});
    },
  );

  it('a connection has a stream that can be corked and destroyed', () => {
    const stream = streamOf(client);
    const types = [typeof stream.cork, typeof stream.uncork, typeof stream.destroy];
    expect(types).toEqual(['function', 'function', 'function']);
  });

  it.each([
    'submit',
    'requiresPreparation',
    'prepare',
    'handleDataRow',
    'handleCommandComplete',
    'handleError',
  ] as const)('a query has the method %s', (method) => {
    expect(typeof new Query('select 1')[method]).toBe('function');
  });

  it('a query keeps its text, name and callback as properties', () => {
    const callback = () => undefined;
    const query = new Query({ text: 'select 1', name: 'one' }, undefined, callback);
    expect(query).toMatchObject({ text: 'select 1', name: 'one', callback });
  });
});
