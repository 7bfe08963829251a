import { setLogLevel } from '../config/logger.js';
import { ChangeBus } from './change-bus.js';

const ACME = '0198c0de-0000-7000-8000-00000000000a';
const RIVAL = '0198c0de-0000-7000-8000-00000000000b';
const ONE = '0198c0de-0000-7000-8000-000000000001';
const TWO = '0198c0de-0000-7000-8000-000000000002';

describe('changes of records', () => {
  let changes: ChangeBus;
  let told: string[];

  beforeEach(() => {
    setLogLevel('silent');
    changes = new ChangeBus();
    told = [];
  });

  const listen = (name: string, organizationId: string, id: string) =>
    changes.subscribe(organizationId, id, () => told.push(name));

  it('are told to all who listen to the record, and to no one else', () => {
    listen('first', ACME, ONE);
    listen('second', ACME, ONE);
    listen('of another record', ACME, TWO);
    listen('of another organization', RIVAL, ONE);
    changes.publish(ACME, [ONE]);
    expect(told).toEqual(['first', 'second']);
  });

  it('are told once for each record of a commit, however its id is written', () => {
    listen('one', ACME, ONE.toUpperCase());
    listen('two', ACME, TWO);
    changes.publish(ACME, [ONE, TWO, ONE.toUpperCase(), ONE]);
    expect(told).toEqual(['one', 'two']);
  });

  it('are told no more to who has ended, while others who came before and after are', () => {
    const listener = () => told.push('twice');
    const ends = [1, 2].map(() => changes.subscribe(ACME, ONE, listener));
    ends[0]!();
    ends[0]!();
    changes.publish(ACME, [ONE]);
    expect(told).toEqual(['twice']);
    ends[1]!();
    listen('later', ACME, ONE);
    ends[1]!();
    changes.publish(ACME, [ONE]);
    expect(told).toEqual(['twice', 'later']);
  });

  it('are told to the others where one who listens fails, and fail nothing', () => {
    changes.subscribe(ACME, ONE, () => {
      throw new Error('no matter');
    });
    listen('next', ACME, ONE);
    changes.publish(ACME, [ONE]);
    expect(told).toEqual(['next']);
  });
});
