import 'reflect-metadata';
import { IsEnum, IsIn, IsString } from 'class-validator';
import { RecordOf } from '../../fields/field.js';
import { OneOf, Text } from '../../fields/kinds/kinds.js';
import { TenantEntity } from '../records/tenant-entity.js';
import { sortsOf } from './order.js';

class CreateShelfDto {
  @Text({ max: 9 }) name?: string | null;
}

@TenantEntity('shelves', { sorts: ['created_at', 'name'] })
class Shelf extends RecordOf(CreateShelfDto) {}

const NAMES = ['created_at', 'name'] as const;

enum ShelfSort {
  Created = 'created_at',
  Name = 'name',
}

class FieldQuery {
  @OneOf(NAMES) sort_by?: string;
}

class ListedQuery {
  @IsIn(NAMES) sort_by?: string;
}

class EnumQuery {
  @IsEnum(ShelfSort) sort_by?: ShelfSort;
}

class FreeQuery {
  @IsString() sort_by?: string;
}

describe('the sorts of a list', () => {
  it.each([FieldQuery, ListedQuery, EnumQuery])('are the values of sort_by: %p', (query) => {
    expect([...sortsOf(Shelf, query).values()]).toEqual([
      { column: 'created_at', nullable: false },
      { column: 'name', nullable: true },
    ]);
  });

  it.each([FreeQuery, undefined])('are the order of the table if there are none: %p', (query) => {
    expect([...sortsOf(Shelf, query).keys()]).toEqual(['created_at']);
  });

  it('must be sorts of the entity', () => {
    class OtherQuery {
      @IsIn(['size']) sort_by?: string;
    }
    expect(() => sortsOf(Shelf, OtherQuery)).toThrow('has the sort size');
  });
});
