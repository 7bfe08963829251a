import type { MigrationInterface, QueryRunner } from 'typeorm';

const NUMBER_OF_CHANGES = 'sum(change), count(*)';
const RANDOM_NUMBER = 'sum(change), 1 + (random() * 1000000)::int';

/**
 * Makes the counter triggers of all tables add a random number to versions instead of the number of changed
 * records, so that no version is used again after a failover that lost writes.
 */
export class RandomCountVersions1764979200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await replaceInTriggers(runner, NUMBER_OF_CHANGES, RANDOM_NUMBER);
  }

  async down(runner: QueryRunner): Promise<void> {
    await replaceInTriggers(runner, RANDOM_NUMBER, NUMBER_OF_CHANGES);
  }
}

async function replaceInTriggers(runner: QueryRunner, from: string, to: string): Promise<void> {
  const functions = (await runner.query(
    `select pg_get_functiondef(oid) as definition from pg_proc
     where pronamespace = current_schema()::regnamespace
       and proname ~ '_count_(insert|update|delete)$' and position($1 in prosrc) > 0`,
    [from],
  )) as { definition: string }[];
  for (const { definition } of functions) await runner.query(definition.replace(from, to));
}
