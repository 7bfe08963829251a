import { eventIdOf, positionOf } from './event-id.js';

describe('the id of an event', () => {
  it('is a UUID of version 7 in the order of positions', () => {
    const positions = [0, 1, 999, 1_000, 1_764_633_600_000_000, 1_764_633_600_000_001];
    const ids = positions.map(eventIdOf);
    for (const id of ids) expect(id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-8000-0{12}$/);
    expect([...ids].sort()).toEqual(ids);
    expect(ids.map(positionOf)).toEqual(positions);
  });

  it('is read in upper case', () => {
    const position = 1_764_633_600_123_456;
    expect(positionOf(eventIdOf(position).toUpperCase())).toBe(position);
  });

  it.each([
    '',
    '0198c0de-0000-7000-8000-000000000001',
    '0198c0de-0000-4000-8000-000000000000',
    '0198c0de-0000-7fff-8000-000000000000',
    'ffffffff-ffff-7000-8000-000000000000',
    '1764633600123456',
  ])('is not %j', (id) => {
    expect(positionOf(id)).toBeUndefined();
  });
});
