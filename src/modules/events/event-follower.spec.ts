import { ChangeBus } from '../../platform/data/gateway/change-bus.js';
import type { EventLogRepository, EventMark } from './event-log.repository.js';
import { EventFollower } from './event-follower.js';

const markAt = (position: number): EventMark => ({
  position,
  organization_id: '01a20a4a-bab5-7026-8d19-79c7404ef4e2',
  type: 'lead.updated',
  record_id: '01a20a4b-0889-7301-a411-941702919df9',
  origin: 1,
});

/** Returns a follower of a log with these events, the positions it notifies of, and its reads of the log. */
function followerOf(stored: readonly EventMark[]) {
  const reads: [after: number, upTo: number][] = [];
  const log = {
    readMarks: (after: number, upTo: number) => {
      reads.push([after, upTo]);
      return Promise.resolve(stored.filter(({ position }) => position > after && position <= upTo));
    },
  } as Partial<EventLogRepository> as EventLogRepository;
  const follower = new EventFollower(log, new ChangeBus());
  const notified: number[] = [];
  follower.onEvents((marks) => notified.push(...marks.map(({ position }) => position)));
  return { follower, notified, reads };
}

const STATE = { expiredBefore: 0, oldestWaiting: null };

describe('the events of which an instance notifies its listeners', () => {
  it('begin with those of its first publication', async () => {
    const { follower, notified, reads } = followerOf([markAt(3)]);
    await follower.advance({ ...STATE, published: [markAt(8)], previous: 5, last: 8 });
    expect({ notified, reads, head: follower.head }).toEqual({ notified: [8], reads: [], head: 8 });
  });

  it('contain those of other instances, which it reads', async () => {
    const { follower, notified, reads } = followerOf([markAt(3), markAt(6), markAt(8)]);
    await follower.advance({ ...STATE, published: [], previous: 5, last: 5 });
    await follower.advance({ ...STATE, published: [markAt(8)], previous: 6, last: 8 });
    expect({ notified, reads }).toEqual({ notified: [6, 8], reads: [[5, 8]] });
  });
});
