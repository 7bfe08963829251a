import { Column, DataSource } from 'typeorm';
import { RecordOf } from '../../fields/field.js';
import { Decimal } from '../../fields/kinds/decimal.js';
import { DateTime, Flag, Integer, JsonObject, Tags, Text, Uuid } from '../../fields/kinds/kinds.js';
import { CreatedAt, OrganizationId } from '../../fields/kinds/record-fields.js';
import { tableOf, TenantEntity } from './tenant-entity.js';

class CreateQuoteDto {
  @Text({ max: 100, required: true, column: { collation: 'C' } }) title: string;
  @Text({ max: 100 }) notes?: string | null;
  @Text({ max: 100, default: 'open' }) status?: string;
  @Decimal({ precision: 12, scale: 2, required: true }) total: string;
  @Integer({ min: 0, max: 9 }) items?: number | null;
  @Integer({ min: 0, max: 9_000_000_000 }) views?: number | null;
  @Flag({ default: false }) sent?: boolean;
  @DateTime() due?: Date | null;
  @Uuid() lead_id?: string | null;
  @Tags() tags?: string[];
  @JsonObject() extra?: object;
}

class QuoteDto extends RecordOf(CreateQuoteDto) {
  @CreatedAt() created_at: Date;
}

@TenantEntity('quotes')
class Quote extends QuoteDto {
  @Column('text', { nullable: true, select: false }) search_text?: string | null;
}

class LineDto extends RecordOf(CreateQuoteDto) {
  @OrganizationId() organization_id: string;
}

@TenantEntity('lines', {
  softDelete: false,
  references: { lead_id: { entity: () => Quote, onDelete: 'cascade' } },
})
class Line extends LineDto {}

/** The metadata of TypeORM, for which it needs no database. */
class Metadata extends DataSource {
  static async of(...entities: (new () => object)[]): Promise<Metadata> {
    const dataSource = new Metadata({ type: 'postgres', entities });
    await dataSource.buildMetadatas();
    return dataSource;
  }
}

it('makes the fields of a record the columns of an entity', async () => {
  const { columns, tableName } = (await Metadata.of(Quote)).getMetadata(Quote);
  expect(tableName).toBe('quotes');
  const described = columns.map(({ databaseName, type, isArray, isNullable }) => [
    databaseName,
    `${String(type)}${isArray ? '[]' : ''}${isNullable ? '' : ' not null'}`,
  ]);
  expect(Object.fromEntries(described)).toEqual({
    organization_id: 'uuid not null',
    id: 'uuid not null',
    title: 'text not null',
    notes: 'text',
    status: 'text not null',
    total: 'numeric not null',
    items: 'integer',
    views: 'bigint',
    sent: 'boolean not null',
    due: 'timestamp with time zone',
    lead_id: 'uuid',
    tags: 'text[] not null',
    extra: 'jsonb not null',
    created_at: 'timestamp with time zone not null',
    deleted_at: 'timestamp with time zone',
    search_text: 'text',
  });
});

it('has the columns that a field and a kind declare in addition', async () => {
  const { columns } = (await Metadata.of(Quote)).getMetadata(Quote);
  const column = (name: string) => columns.find(({ databaseName }) => databaseName === name);
  expect(column('title')).toMatchObject({ collation: 'C' });
  expect(column('total')).toMatchObject({ precision: 12, scale: 2 });
  expect(column('due')).toMatchObject({ precision: 3 });
});

it('hides the columns that are no fields', async () => {
  const dataSource = await Metadata.of(Quote, Line);
  const hidden = (entity: new () => object) =>
    dataSource
      .getMetadata(entity)
      .columns.filter(({ isSelect }) => !isSelect)
      .map(({ databaseName }) => databaseName)
      .sort();
  expect(hidden(Quote)).toEqual(['deleted_at', 'organization_id', 'search_text']);
  expect(hidden(Line)).toEqual([]);
});

it('has the foreign keys of its references', async () => {
  const { foreignKeys } = (await Metadata.of(Quote, Line)).getMetadata(Line);
  expect(foreignKeys.map(({ columnNames, onDelete }) => ({ columnNames, onDelete }))).toEqual([
    { columnNames: ['organization_id', 'lead_id'], onDelete: 'CASCADE' },
  ]);
});

it('refuses a class that is no entity', () => {
  expect(() => tableOf(QuoteDto)).toThrow('The class QuoteDto needs @TenantEntity().');
});
