import { Integer, OneOf, Text, Uuid } from '../kinds/kinds.js';
import { QUERY, QUERY_PARAMETERS, readInput } from './read-input.js';

class QueryDto {
  @Integer({ min: 1, max: 9, default: 1 }) page: number;
  @OneOf(['a', 'b'], { default: 'a' }) sort_by: string;
  @Text({ max: 5 }) search?: string;
  @Integer({ min: 1, max: 9 }) size?: number;
  @Uuid({ required: true }) lead_id: string;
}

class BalanceDto {
  @Integer({ min: -9, max: 9 }) balance?: number;
}

class NoneDto {}

const ID = '01a1fbdd-52c3-7b18-9a4f-2d1c7e6b5a43';

const JSON_VALUES = { wording: QUERY, ignoresEmpty: true };

describe('readInput of a query', () => {
  it.each(['', ' ', '\t\n'])('treats the filter %j like an omitted one', (nothing) => {
    const read = readInput(
      QueryDto,
      { search: nothing, size: nothing, lead_id: ID },
      [],
      JSON_VALUES,
    );
    expect(read.problems).toEqual([]);
    expect({ ...read.value }).toStrictEqual({ page: 1, sort_by: 'a', lead_id: ID });
  });

  it.each(['page', 'sort_by', 'lead_id'])('rejects an empty %s, which is not a filter', (name) => {
    const { problems } = readInput(QueryDto, { lead_id: ID, [name]: '' }, [], JSON_VALUES);
    expect(problems).toContainEqual({ field: name, message: 'must not be empty' });
  });

  describe('with bounds that allow negative integers', () => {
    const read = (balance: string) => readInput(BalanceDto, { balance }, [], QUERY_PARAMETERS);

    it.each(['-9', '0', '9'])('reads the integer %s', (text) => {
      expect(read(text)).toMatchObject({ value: { balance: Number(text) }, problems: [] });
    });

    it.each(['-0', '-05', '--5', '-10', '-'])('refuses the text %s', (text) => {
      expect(read(text).problems).toMatchObject([{ field: 'balance' }]);
    });
  });

  it('lists the allowed parameters for the first unknown one', () => {
    const { problems } = readInput(QueryDto, { lead_id: ID, Page: '1', x: '' }, [], JSON_VALUES);
    expect(problems).toEqual([
      {
        field: 'Page',
        message: 'is unknown; the parameters are page, sort_by, search, size, lead_id',
      },
      { field: 'x', message: 'is unknown' },
    ]);
  });

  it('reports an unknown parameter if none are allowed', () => {
    expect(readInput(NoneDto, { x: '1' }, [], JSON_VALUES).problems).toEqual([
      { field: 'x', message: 'is unknown; there are none here' },
    ]);
  });

  it('reports the field "query" for a parameter without a name', () => {
    expect(readInput(NoneDto, { '': '1' }, [], JSON_VALUES).problems).toMatchObject([
      { field: 'query' },
    ]);
  });
});
