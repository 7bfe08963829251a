import { setLogLevel } from '../../config/logger.js';
import { ChangeBus } from './change-bus.js';

const ACME = '0198c0de-0000-7000-8000-00000000000a';
const RIVAL = '0198c0de-0000-7000-8000-00000000000b';
const ONE = '0198c0de-0000-7000-8000-000000000001';
const TWO = '0198c0de-0000-7000-8000-000000000002';

describe('ChangeBus', () => {
  let changes: ChangeBus;
  let calls: string[];

  beforeEach(() => {
    setLogLevel('silent');
    changes = new ChangeBus();
    calls = [];
  });

  const subscribe = (name: string, organizationId: string, id: string) =>
    changes.subscribe(organizationId, id, () => calls.push(name));

  it('calls every subscriber of the record and no other subscriber', () => {
    subscribe('first', ACME, ONE);
    subscribe('second', ACME, ONE);
    subscribe('of another record', ACME, TWO);
    subscribe('of another organization', RIVAL, ONE);
    changes.publish(ACME, ONE);
    expect(calls).toEqual(['first', 'second']);
  });

  it('ignores the case of ids', () => {
    subscribe('one', ACME, ONE.toUpperCase());
    subscribe('two', ACME, TWO);
    changes.publish(ACME, ONE);
    changes.publish(ACME, TWO.toUpperCase());
    expect(calls).toEqual(['one', 'two']);
  });

  it('does not call a subscriber that has unsubscribed, and still calls the others', () => {
    const listener = () => calls.push('twice');
    const unsubscribe = [1, 2].map(() => changes.subscribe(ACME, ONE, listener));
    unsubscribe[0]!();
    unsubscribe[0]!();
    changes.publish(ACME, ONE);
    expect(calls).toEqual(['twice']);
    unsubscribe[1]!();
    subscribe('later', ACME, ONE);
    unsubscribe[1]!();
    changes.publish(ACME, ONE);
    expect(calls).toEqual(['twice', 'later']);
  });

  it('calls the other subscribers when one throws, and does not throw itself', () => {
    changes.subscribe(ACME, ONE, () => {
      throw new Error('ignored');
    });
    subscribe('next', ACME, ONE);
    changes.publish(ACME, ONE);
    expect(calls).toEqual(['next']);
  });
});
