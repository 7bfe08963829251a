import { failed, ok, skipped, together, warning } from './check.js';
import { Diagnosis } from './diagnosis.js';
import { formatDiagnosis } from './format-diagnosis.js';

const FINDINGS = { ok: ok('o.'), warning: warning('w.', 'r'), failed: failed('f.', 'r') };

it.each([
  [['ok'], false, 0],
  [['ok', 'warning'], false, 0],
  [['ok', 'warning'], true, 1],
  [['warning', 'failed'], false, 1],
  [['ok'], true, 0],
] as const)('%j, strict: %s: exits with %d', (statuses, isStrict, code) => {
  const diagnosis = new Diagnosis();
  for (const status of statuses) diagnosis.add(status, FINDINGS[status]);
  expect(diagnosis.exitCode(isStrict)).toBe(code);
  expect(diagnosis.ok).toBe(!(statuses as readonly string[]).includes('failed'));
});

it('exits with 2 if the checks could not run', () => {
  const diagnosis = new Diagnosis();
  diagnosis.giveUp('database', FINDINGS.failed);
  expect([diagnosis.ok, diagnosis.exitCode(true)]).toEqual([false, 2]);
});

it('goes on after a check that cannot be carried out', async () => {
  const diagnosis = new Diagnosis();
  await diagnosis.run(
    {
      broken: () => Promise.reject(new Error('a lock')),
      last: () => skipped('s.'),
    },
    undefined,
  );
  expect(diagnosis.checks).toMatchObject([
    { name: 'broken', status: 'warning', message: 'It could not be carried out: a lock.' },
    { name: 'last', status: 'skipped' },
  ]);
});

it('describes several problems as one finding, the worst first', () => {
  expect(together([], FINDINGS.ok)).toBe(FINDINGS.ok);
  const both = together(
    [warning('w.', 'one;'), failed('f.', 'two;'), failed('g.', 'two;')],
    ok(''),
  );
  expect(both).toEqual({ status: 'failed', message: 'f. g. w.', remedy: 'two; one;' });
  const many = Array.from({ length: 12 }, (_, n) => failed(`${n}.`, 'r'));
  expect(together(many, ok('')).message).toMatch(/ 9\. And 2 more\.$/);
});

it('prints aligned lines, remedies, and a line that counts', () => {
  const diagnosis = new Diagnosis();
  diagnosis.add('clock', ok('The clocks agree.'));
  diagnosis.add('disk', warning('Little is left.', 'Free space.'));
  expect(formatDiagnosis(diagnosis.report).split('\n')).toEqual([
    'ok       clock  The clocks agree.',
    'warning  disk   Little is left.',
    '                To do: Free space.',
    '',
    '2 checks: 1 ok, 1 with a warning.',
    '',
  ]);
});
