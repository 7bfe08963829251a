import { continuesAfterTransactionEnd } from './transaction-control.js';

describe('continuesAfterTransactionEnd', () => {
  it.each([
    'COMMIT',
    'rollback;',
    'commit; -- done',
    'begin; update leads set notes = null; commit',
    'rollback to savepoint a; select 1',
    'rollback work to a; select 1',
    `select 'x; commit; select 1'`,
    `select e'it\\'s; commit; select 1'`,
    'select $$; commit; select 1$$',
    'select $a$; commit; select 1$a$',
    'select "a; commit; b" from c; select 1',
    '/* ; commit; */ select 1; select 2',
    'select case when a then 1 end; select 2',
    'prepare a as select 1; execute a',
    'commit and no chain',
  ])('is false for %s', (text) => {
    expect(continuesAfterTransactionEnd(text)).toBe(false);
  });

  it.each([
    'commit; select 1',
    'begin; select 1; COMMIT; begin; select 2; commit',
    'rollback transaction; select 1',
    'abort; select 1',
    'select 1; end; select 2',
    `prepare transaction 'a'; select 1`,
    'commit/**/; select 1',
    'commit and chain',
    'rollback work and  chain',
  ])('is true for %s', (text) => {
    expect(continuesAfterTransactionEnd(text)).toBe(true);
  });
});
