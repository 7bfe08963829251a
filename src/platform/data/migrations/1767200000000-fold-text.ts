import { readFileSync } from 'node:fs';
import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Adds the function that folds text as searches do. `scripts/fold-function.mjs` has written its SQL. */
export class FoldText1767200000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    const file = new URL('1767200000000-fold-text.sql', import.meta.url);
    await runner.query(readFileSync(file, 'utf8'));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop function latitude_fold');
  }
}
