import { declareField, PickOf } from '../../../platform/fields/field.js';
import {
  DateTime,
  Flag,
  Integer,
  OneOf,
  SomeOf,
  Text,
} from '../../../platform/fields/kinds/kinds.js';
import { EnumArray, Names } from '../../../platform/fields/kinds/output-kinds.js';
import { parseJsonText } from '../../../platform/fields/input/strict-json.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import { CreatedAt, RecordId, UpdatedAt } from '../../../platform/fields/kinds/record-fields.js';
import { textRule } from '../../../platform/fields/kinds/rules.js';
import { ListQuery } from '../../../platform/data/lists/list-query.js';
import { UPSERT_MODES, type UpsertMode } from '../lead-upsert.dto.js';
import { UNIQUE_FIELDS } from '../lead-values.js';
import { MAX_MAP_LENGTH } from './columns.js';
import { ENCODINGS, type TextEncoding } from './text-shape.js';
import { type DelimiterName, DELIMITERS } from './file-records.js';
import { readConstants } from './import-constants.js';
import { LeadExportQuery } from './lead-export.dto.js';

/** What finds the lead of a line. */
export const MATCH_FIELDS = ['id', ...UNIQUE_FIELDS] as const;
export type MatchField = (typeof MATCH_FIELDS)[number];

export const IMPORT_FORMATS = ['csv', 'ndjson'] as const;
export type ImportFormat = (typeof IMPORT_FORMATS)[number];

const STATUSES = ['pending', 'running', 'completed', 'cancelled', 'failed'] as const;
export type ImportStatus = (typeof STATUSES)[number];

export const MAX_FILE_BYTES = 52_428_800;

/** More than a file can have: a line of NDJSON has three bytes. */
const MAX_LINES = MAX_FILE_BYTES;

const UNKNOWN_COLUMNS = ['refuse', 'custom_fields'] as const;
const ESCAPES = ['none', 'latitude'] as const;

/** A JSON object of headers and fields. */
function ColumnMap() {
  return declareField(
    {
      description:
        'JSON object of columns and fields: `{"Owner":"custom_fields.owner","Score":null}`. Null leaves a column out.',
      example: '{"Owner":"custom_fields.owner"}',
    },
    {
      schema: { type: 'string', maxLength: MAX_MAP_LENGTH },
      rules: [
        textRule('isColumnMap', (text) =>
          columnMapOf(text)
            ? undefined
            : 'must be a JSON object of strings and null, with each column once',
        ),
      ],
    },
  );
}

/** A JSON object of fields and values. Their problems are found with those of the columns. */
function Constants() {
  return declareField(
    {
      description:
        'JSON object of fields that all lines have: tags are added, other values stand in for empty and missing cells.',
      example: '{"tags":["fair"],"source":"website"}',
    },
    {
      schema: { type: 'string', maxLength: MAX_MAP_LENGTH },
      rules: [
        textRule('isConstants', (text) => {
          const problems = readConstants(text).problems.map(({ field, message }) =>
            [field.slice('set.'.length), message].filter((part) => part !== '').join(' '),
          );
          return problems.length > 0 ? problems.join('; ') : undefined;
        }),
      ],
    },
  );
}

/** @returns undefined if the text is no map of columns */
export function columnMapOf(text = '{}'): Record<string, string | null> | undefined {
  const { value: map, problems = [] } = parseJsonText(text) ?? {};
  if (!isObject(map) || problems.length > 0) return undefined;
  const isMap = Object.values(map).every((to) => to === null || typeof to === 'string');
  return isMap ? (map as Record<string, string | null>) : undefined;
}

/** How a file is imported (docs/contract/imports.md#parameters). */
export class LeadImportQuery {
  @OneOf(UPSERT_MODES, {
    default: 'create_or_update',
    description: 'What a line may do, as in an upsert.',
    example: 'create_or_update',
  })
  mode: UpsertMode;
  @SomeOf(MATCH_FIELDS, {
    description:
      'Fields that find the lead of a line. Default: external_id and email, those of them that the file has; phone if it has neither.',
    example: ['email'],
  })
  match_on?: MatchField[];
  @ColumnMap() map?: string;
  @Constants() set?: string;
  @OneOf(UNKNOWN_COLUMNS, {
    default: 'refuse',
    description: 'Whether a file with unknown columns is refused, or they become custom fields.',
    example: 'refuse',
  })
  unknown_columns: (typeof UNKNOWN_COLUMNS)[number];
  @Flag({ default: false, description: 'Whether nothing is written.', example: false })
  dry_run: boolean;
  @OneOf(ENCODINGS, {
    description:
      'Encoding of the file. Default: the charset of its content type, else utf-8. A byte order mark of UTF-16 is recognized.',
    example: 'utf-8',
  })
  encoding?: TextEncoding;
  @OneOf(Object.keys(DELIMITERS) as DelimiterName[], {
    description: 'What separates the cells of CSV. Default: what the first line has most often.',
    example: 'semicolon',
  })
  delimiter?: DelimiterName;
  @Flag({
    default: false,
    description: 'Whether an empty cell of CSV clears its field.',
    example: false,
  })
  clear_empty: boolean;
  @OneOf(ESCAPES, {
    default: 'none',
    description:
      'Set it to `latitude` for a file of an export, whose cells may have a quote before a formula.',
    example: 'none',
  })
  escaped: (typeof ESCAPES)[number];
}

function Lines(description: string, example: number) {
  return Integer({
    required: true,
    min: 0,
    max: MAX_LINES,
    description,
    example,
    column: { default: 0 },
  });
}

/** An import of leads (docs/contract/imports.md#progress). */
export class LeadImportDto {
  @RecordId('import', '01a1fbe0-7c15-7e42-b6a1-95d3f08c4e10') id: string;
  @OneOf(STATUSES, { required: true, description: 'Its state.', example: 'running' })
  status: ImportStatus;
  @OneOf(IMPORT_FORMATS, { required: true, description: 'Format of the file.', example: 'csv' })
  format: ImportFormat;
  @OneOf(UPSERT_MODES, {
    required: true,
    description: 'What a line may do.',
    example: 'create_or_update',
  })
  mode: UpsertMode;
  @EnumArray(MATCH_FIELDS, {
    description: 'Fields that find the lead of a line.',
    example: ['email'],
  })
  match_on: MatchField[];
  @Flag({ required: true, description: 'Whether nothing is written.', example: false })
  dry_run: boolean;
  @Names({ description: 'Columns that are not imported.', example: [] })
  ignored_columns: string[];
  @Integer({
    required: true,
    min: 0,
    max: MAX_FILE_BYTES,
    description: 'Size of the file.',
    example: 48_213,
  })
  bytes: number;
  @Lines('Records of the file.', 1_000) lines: number;
  @Lines('Records that were carried out or rejected.', 400) processed: number;
  @Lines('Leads that were created.', 390) created: number;
  @Lines('Leads that were updated.', 6) updated: number;
  @Lines('Records whose lead had all values already.', 0) unchanged: number;
  @Lines('Records that were rejected.', 4) rejected: number;
  @Text({
    max: 500,
    description: 'Why it ended before its last line.',
    example: 'The key that started the import was revoked, has expired, or lacks a scope.',
  })
  error: string | null;
  @DateTime({ description: 'When it began.', example: '2026-01-05T16:20:01.000Z' })
  started_at: Date | null;
  @DateTime({ description: 'When it ended.', example: '2026-01-05T16:20:31.000Z' })
  ended_at: Date | null;
  @CreatedAt() created_at: Date;
  @UpdatedAt() updated_at: Date;
}

/** Filters of the list of imports. */
export class LeadImportListQuery extends ListQuery {
  @OneOf(STATUSES, { description: 'Only imports with this status.', example: 'running' })
  status?: ImportStatus;
}

/** How rejected lines are written. */
export class RejectedLinesQuery extends PickOf(LeadExportQuery, ['escape']) {}

/** How the results of lines are written. */
export class ImportResultsQuery extends PickOf(LeadExportQuery, ['format']) {}
