import type pg from 'pg';
import { TENANT_TABLES } from './tenant-tables.js';

/** A node of a plan, as `explain (verbose, format json)` describes it. */
interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly Alias?: string;
  readonly Operation?: 'Insert' | 'Update' | 'Delete';
  readonly Output?: readonly string[];
  readonly Plans?: readonly PlanNode[];
  readonly [condition: string]: unknown;
}

/** A table of organizations, or a partition of one. */
interface TenantTable {
  readonly name: string;
  /** The table, if this is a partition. */
  readonly root: string;
  /** The position of `organization_id` among the columns, from 0. */
  readonly position: number;
}

const FIND_TABLES = `select c.relname as name, coalesce(pg_partition_root(c.oid)::regclass, c.oid::regclass)::text as root,
    a.attnum - 1 as position
  from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
  where c.relkind in ('r', 'p') and coalesce(pg_partition_root(c.oid)::regclass, c.oid::regclass)::text in (${TENANT_TABLES})`;

const CONDITIONS = ['Index Cond', 'Recheck Cond', 'Filter', 'TID Cond'];

/** A parameter, or the organization of a row that was read before. */
const ONE_ORGANIZATION = String.raw`(?:\(?(\$[1-9]\d*)\)?(?:::uuid)?|(?:(.+)\.)?organization_id)`;

const IS_ONE_ORGANIZATION = new RegExp(`^${ONE_ORGANIZATION}$`);

const SAME_ORGANIZATION = new RegExp(
  String.raw`^\((?:\w+\.)?organization_id = ${ONE_ORGANIZATION}\)$`,
);

/** Statements that PostgreSQL does not plan, without a table of organizations or with one in the text only. */
const UNPLANNED =
  /^\s*(?:begin|start transaction|commit|rollback|savepoint|fetch|set|create|alter|drop|lock)\b/i;

/**
 * Shows by the plans of PostgreSQL which tables of organizations a statement reads or writes without naming one
 * organization. As the owner, no policy adds a condition of its own.
 */
export class StatementPlans {
  private constructor(
    private readonly client: pg.ClientBase,
    private readonly tables: ReadonlyMap<string, TenantTable>,
  ) {}

  static async of(client: pg.ClientBase): Promise<StatementPlans> {
    // Without pruning, since it would leave out the partitions that have no row for the values of the parameters.
    await client.query(
      'set plan_cache_mode = force_generic_plan; set enable_partition_pruning = off',
    );
    const { rows } = await client.query<TenantTable>(FIND_TABLES);
    return new StatementPlans(client, new Map(rows.map((table) => [table.name, table])));
  }

  /** The tables, each once and in order. `several organizations` if two parameters name organizations. */
  async acrossOrganizations(text: string): Promise<string[]> {
    if (UNPLANNED.test(text)) return this.tablesIn(text);
    const walk = { found: new Set<string>(), parameters: new Set<string>() };
    this.visit(await this.plan(text), walk);
    if (walk.parameters.size > 1) walk.found.add('several organizations');
    return [...walk.found].sort();
  }

  private tablesIn(text: string): string[] {
    const words = new Set(text.split(/\W+/));
    const named = [...this.tables.values()].filter(({ name }) => words.has(name));
    return [...new Set(named.map(({ root }) => root))].sort();
  }

  private async plan(text: string): Promise<PlanNode> {
    const { client } = this;
    const planned = text.replace(/^\s*declare \w+ no scroll cursor for /, '');
    await client.query(`prepare walked as ${planned}`);
    try {
      const { rows } = await client.query<{ count: number }>(
        `select cardinality(parameter_types) as count from pg_prepared_statements where name = 'walked'`,
      );
      const nulls = Array<string>(rows[0]?.count ?? 0).fill('null');
      const values = nulls.length > 0 ? `(${nulls.join()})` : '';
      const explained = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(
        `explain (verbose, costs off, format json) execute walked${values}`,
      );
      return explained.rows[0]!['QUERY PLAN'][0].Plan;
    } finally {
      await client.query('deallocate walked');
    }
  }

  private visit(node: PlanNode, walk: { found: Set<string>; parameters: Set<string> }): void {
    const table = this.tables.get(node['Relation Name'] ?? '');
    if (table) {
      const isNamed =
        node.Operation === 'Insert'
          ? insertsOne(node, table, walk.parameters)
          : node.Operation !== undefined || readsOne(node, walk.parameters);
      if (!isNamed) walk.found.add(table.root);
    }
    for (const child of node.Plans ?? []) this.visit(child, walk);
  }
}

/** Whether each row that a node reads is of one organization. An update changes the rows that a node below it reads. */
function readsOne(node: PlanNode, parameters: Set<string>): boolean {
  const matches = CONDITIONS.flatMap((name) => conditionsIn(node[name] as string | undefined))
    .map((condition) => SAME_ORGANIZATION.exec(condition))
    .filter((match) => match !== null);
  for (const [, parameter] of matches) if (parameter) parameters.add(parameter);
  return matches.length > 0;
}

/** The conditions that all must hold: `((a = 1) AND (b = 2))` has two. */
function conditionsIn(text = ''): string[] {
  if (!text.startsWith('((')) return [text];
  const conditions: string[] = [];
  let condition = '';
  let depth = 0;
  for (const character of text.slice(1, -1)) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    condition += character;
    if (depth === 0 && condition.endsWith(' AND ')) {
      conditions.push(condition.slice(0, -' AND '.length));
      condition = '';
    }
  }
  return [...conditions, condition];
}

function insertsOne(node: PlanNode, { position }: TenantTable, parameters: Set<string>): boolean {
  const [, parameter, row] = IS_ONE_ORGANIZATION.exec(insertedBy(node, position)) ?? [];
  if (parameter) parameters.add(parameter);
  // A function returns rows of any organization.
  const functions = nodesBelow(node).filter((below) => below['Node Type'] === 'Function Scan');
  return (
    parameter !== undefined ||
    (row !== undefined && !functions.some(({ Alias }) => Alias === row.replaceAll('"', '')))
  );
}

/** The value of a column of an insert. A subquery has `organization_id` first, as the insert names it. */
function insertedBy(node: PlanNode, position: number): string {
  const source = outerOf(node);
  const value = source?.Output?.[position] ?? '';
  const subquery = value.startsWith('"*SELECT*') ? source && outerOf(source) : undefined;
  return subquery?.Output?.[0] ?? value;
}

function outerOf({ Plans = [] }: PlanNode): PlanNode | undefined {
  return Plans.find((plan) =>
    ['Outer', 'Subquery'].includes(plan['Parent Relationship'] as string),
  );
}

function nodesBelow(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesBelow)];
}
