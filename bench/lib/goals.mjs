import { ratioOf, spreadOf } from './rounds.mjs';
import { byName, formatRatio, markdownTable } from './tables.mjs';
import { BARE, KEYED, LATITUDE, LIMIT, PLATFORMATIC } from './targets.mjs';

const SINGLE = { organizations: 1, connections: 1 };
const ONE = { organizations: 1, connections: 32 };
const TWENTY = { organizations: 20, connections: 32 };

/** Minimums of the requests a second of Latitude, as multiples of those of another server. */
const RATIOS = [
  { name: 'get', ...ONE, to: BARE, min: 1.8 },
  { name: 'get', ...ONE, to: LIMIT, min: 1 },
  { name: 'create', ...ONE, to: BARE, min: 1.6 },
  { name: 'create', ...ONE, to: LIMIT, min: 1.2 },
  { name: 'create', ...ONE, to: PLATFORMATIC, min: 1 },
  { name: 'update', ...ONE, to: BARE, min: 1 },
  { name: 'get', ...TWENTY, to: BARE, min: 1.3 },
  { name: 'create', ...TWENTY, to: BARE, min: 0.85 },
  { name: 'update', ...TWENTY, to: BARE, min: 0.7 },
  { name: 'get', ...SINGLE, to: BARE, min: 0.95 },
  { name: 'create', ...SINGLE, to: BARE, min: 0.75 },
  { name: 'update', ...SINGLE, to: BARE, min: 0.6 },
  { name: 'create', ...ONE, of: KEYED, to: LATITUDE, min: 0.75 },
];

/** The p99 as a multiple of the p50, at most. */
const TAIL = { max: 5, cases: ['get', 'create', 'update'], of: [ONE, TWENTY] };

/** Resident memory of Latitude at full speed, in MiB, at most: that of a version that sent each statement alone. */
const MEMORY = { max: 260 };

const NAMES = {
  [BARE]: 'the bare server',
  [LIMIT]: 'the limit',
  [PLATFORMATIC]: PLATFORMATIC,
  [LATITUDE]: 'creates without a key',
};

/** The measurements for the goals, as options of a comparison. */
export const GOAL_SCOPE = {
  only: TAIL.cases,
  organizations: [ONE, TWENTY].map(({ organizations }) => organizations),
  connectionsOf: (name, organizations) =>
    [SINGLE, ONE, TWENTY]
      .filter((scope) => scope.organizations === organizations)
      .map(({ connections }) => connections),
  peers: [PLATFORMATIC],
  isNeeded: (benchCase, { name }) =>
    name === LATITUDE ||
    RATIOS.some(
      ({ of = LATITUDE, to, ...goal }) =>
        goal.name === benchCase.name &&
        goal.organizations === benchCase.organizations &&
        [of, to].includes(name),
    ),
};

/** The goals with their measurements, and the number of goals that are reached. */
export function goalsReport(results) {
  const rows = [...RATIOS.map((goal) => ratioRow(goal, results)), ...tailRows(results)];
  rows.push(memoryRow(results));
  const reached = rows.filter(({ isReached }) => isReached).length;
  const missed = rows.filter(({ isReached }) => isReached === false).length;
  const unknown = rows.length - reached - missed;
  const header = ['Request', 'Connections', 'Organizations', 'Goal', 'Measured', 'Reached'];
  const cells = rows.map(({ cells: own, isReached }) => [...own, yesOrNo(isReached)]);
  const counts = [`${reached} of ${rows.length} goals are reached, ${missed} are not`];
  if (unknown > 0) counts.push(`${unknown} were not measured`);
  return `${markdownTable(header, cells, 0)}\n\n${counts.join(', and ')}.`;
}

function ratioRow({ of = LATITUDE, to, min, ...goal }, results) {
  const result = resultOf(goal, results);
  const named = result ? byName(result.byTarget) : new Map();
  const isMeasured = named.has(of) && named.has(to);
  const ratio = isMeasured ? ratioOf(named.get(of), named.get(to)) : undefined;
  const title = of === KEYED ? `${goal.name} with Idempotency-Key` : goal.name;
  return {
    cells: [
      ...[title, goal.connections, goal.organizations],
      ...[`at least ${min} × ${NAMES[to]}`, ratio ? formatRatio(ratio) : ''],
    ],
    isReached: ratio && ratio.median >= min,
  };
}

function tailRows(results) {
  return TAIL.of.flatMap((scope) =>
    TAIL.cases.map((name) => {
      const result = resultOf({ name, ...scope }, results);
      const measurements = result && byName(result.byTarget).get(LATITUDE);
      const ratio = measurements && spreadOf(measurements.map(({ p50, p99 }) => p99 / p50));
      return {
        cells: [
          ...[name, scope.connections, scope.organizations],
          ...[`p99 at most ${TAIL.max} × p50`, ratio ? formatRatio(ratio) : ''],
        ],
        isReached: ratio && ratio.median <= TAIL.max,
      };
    }),
  );
}

function memoryRow(results) {
  const measurements = results
    .filter(({ connections }) => connections === ONE.connections)
    .flatMap(({ byTarget }) => byName(byTarget).get(LATITUDE) ?? []);
  const memories = measurements
    .map(({ memory }) => memory)
    .filter((memory) => memory !== undefined);
  const memory = memories.length > 0 ? Math.max(...memories) : undefined;
  return {
    cells: [
      ...['all of them', ONE.connections, ''],
      ...[`memory at most ${MEMORY.max} MiB`, memory ? `${Math.round(memory)} MiB` : ''],
    ],
    isReached: memory && memory <= MEMORY.max,
  };
}

function resultOf({ name, organizations, connections }, results) {
  return results.find(
    (result) =>
      result.benchCase.name === name &&
      result.benchCase.organizations === organizations &&
      result.connections === connections,
  );
}

function yesOrNo(isReached) {
  if (isReached === undefined) return 'not measured';
  return isReached ? 'yes' : '**no**';
}
