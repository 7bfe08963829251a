import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The function of the triggers `leads_search_text_1` to `3` (`SearchText1764201600000`). */
const functionThat = (fill: string, declare = '') => String.raw`
  create or replace function leads_search_text() returns trigger language plpgsql as $$
  ${declare}
  begin
    if tg_argv[0] = 'mark' then
      new.search_text := E'\x01' || new.search_text;
    elsif starts_with(new.search_text, E'\x01') then
      new.search_text := substr(new.search_text, 2);
    else
      new.search_text := ${fill};
    end if;
    return new;
  end $$`;

const EARLIER_WORDS = String.raw`
  declare
    words text := lower(translate(
      concat_ws(E'\x02', new.phone, new.email, new.company,
        new.first_name || coalesce(' ' || new.last_name || ' ' || new.first_name, '')),
      E'\x1e\x1f\x02', E'  \x1f') collate "default");`;

const digitsOf = (sql: string) => `regexp_replace(${sql}, '[^0-9]', '', 'g')`;

const separatedDigits = ['email', 'company', 'first_name', 'last_name'].map(
  (name) => `case when new.${name} ~ '[0-9][^0-9]+[0-9]' then ${digitsOf(`new.${name}`)} end`,
);

const EARLIER_FILL = String.raw`
  case when octet_length(words) > 2400 then left(words, 600) else words end
    || E'\x1e' || concat_ws(E'\x1f', new.phone_compared, ${digitsOf('new.phone')}, ${separatedDigits.join()})`;

/**
 * Leaves the search text of leads that SQL writes without it empty. A job of the server writes it, and again
 * those without the mark \x02, which instances of an earlier version write.
 */
export class QueueSearchTexts1765065600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(functionThat(`''`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(functionThat(EARLIER_FILL, EARLIER_WORDS));
  }
}
