import type { MigrationInterface, QueryRunner } from 'typeorm';

const TABLES = [
  'leads',
  'appointments',
  'tasks',
  'webhooks',
  'webhook_deliveries',
  'events',
  'event_outbox',
  'idempotency_keys',
  'jobs',
];

const IS_ENTITY_MANAGER = `current_setting('latitude.entity_manager', true) = 'on'`;
const HAS_TAGS = `new.tags <> '{}' or new.tags_folded is not null`;

const SEPARATED_TAGS = String.raw`(select
  E'\x1f' || lower(string_agg(translate(tag, E'\x1f', ' '), E'\x1f') collate latitude_names) || E'\x1f'
  from unnest(new.tags) tag)`;

function refuseEntityManager(body: string, condition: string): string[] {
  return [
    `create or replace function refuse_entity_manager() returns trigger language plpgsql as $$
      begin ${body} end $$`,
    ...TABLES.map(
      (table) => `create or replace trigger refuse_entity_manager
        before insert or update or delete on ${table}
        for each statement ${condition} execute function refuse_entity_manager()`,
    ),
  ];
}

const RAISE = `raise exception 'the entity manager of a transaction cannot write to %', tg_table_name
  using errcode = 'insufficient_privilege',
    hint = 'Use the service of its module, which also writes events and computed columns.';`;

function foldTags(body: string, condition: string): string[] {
  return [
    `create or replace function leads_tags_folded() returns trigger language plpgsql set search_path from current
      as $$ begin ${body} return new; end $$`,
    `create or replace trigger leads_tags_folded before insert or update of tags on leads
      for each row ${condition} execute function leads_tags_folded()`,
  ];
}

/**
 * Lets functions of triggers check what conditions of triggers checked, which PostgreSQL parses for each statement, and lets
 * them fold tags without a query.
 */
export class CheaperTriggers1766880000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    // In one round trip, because the tables are locked until the commit.
    const statements = [
      ...refuseEntityManager(`if ${IS_ENTITY_MANAGER} then ${RAISE} end if; return null;`, ''),
      ...foldTags(
        String.raw`if ${HAS_TAGS} then
          if strpos(array_to_string(new.tags, ''), E'\x1f') = 0 then
            new.tags_folded := E'\x1f'
              || lower(nullif(array_to_string(new.tags, E'\x1f'), '') collate latitude_names) || E'\x1f';
          else
            new.tags_folded := ${SEPARATED_TAGS};
          end if;
        end if;`,
        '',
      ),
    ];
    await runner.query(statements.join(';\n'));
  }

  async down(runner: QueryRunner): Promise<void> {
    const statements = [
      ...refuseEntityManager(RAISE, `when (${IS_ENTITY_MANAGER})`),
      ...foldTags(`new.tags_folded := ${SEPARATED_TAGS};`, `when (${HAS_TAGS})`),
    ];
    await runner.query(statements.join(';\n'));
  }
}
