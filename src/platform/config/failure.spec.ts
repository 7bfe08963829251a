import { describeFailure } from './failure.js';

describe('describeFailure', () => {
  it('is the message of an error', () => {
    expect(describeFailure(new Error('PORT is not a number'))).toBe('PORT is not a number');
    expect(describeFailure('a text')).toBe('a text');
  });

  it('is the messages of an AggregateError, as of a connection to several addresses', () => {
    const refused = ['::1', '127.0.0.1'].map((host) => new Error(`connect ECONNREFUSED ${host}`));
    expect(describeFailure(new AggregateError(refused))).toBe(
      'connect ECONNREFUSED ::1\nconnect ECONNREFUSED 127.0.0.1',
    );
  });

  it.each([new TypeError('x is not a function'), new Error()])(
    'is the stack of %p, whose message does not say where it was thrown',
    (error) => {
      expect(describeFailure(error)).toBe(error.stack);
    },
  );
});
