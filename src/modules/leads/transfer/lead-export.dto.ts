import { PickOf } from '../../../platform/fields/field.js';
import { Flag, OneOf } from '../../../platform/fields/kinds/kinds.js';
import { filterNamesOf } from '../../../platform/data/lists/list-query.js';
import { LeadListQuery } from '../lead.dto.js';
import { type DelimiterName, DELIMITERS } from './file-records.js';

const FORMATS = ['csv', 'ndjson'] as const;
type ExportFormat = (typeof FORMATS)[number];

/** The content types of the formats. */
export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  csv: 'text/csv; charset=utf-8',
  ndjson: 'application/x-ndjson',
};

const ESCAPES = ['formulas', 'none'] as const;

/** Which leads are exported, and how (docs/contract/exports.md). */
export class LeadExportQuery extends PickOf(LeadListQuery, filterNamesOf(LeadListQuery)) {
  @OneOf(FORMATS, {
    default: 'csv',
    description: 'CSV, or a JSON object a line.',
    example: 'csv',
  })
  format: ExportFormat;
  @OneOf(ESCAPES, {
    default: 'formulas',
    description: 'Whether cells that a spreadsheet would take for formulas get a leading quote.',
    example: 'formulas',
  })
  escape: (typeof ESCAPES)[number];
  @OneOf(Object.keys(DELIMITERS) as DelimiterName[], {
    description: 'What separates the cells of CSV. Default: comma.',
    example: 'semicolon',
  })
  delimiter?: DelimiterName;
  @Flag({
    default: false,
    description: 'Whether CSV begins with a byte order mark, so that Excel reads it as UTF-8.',
    example: false,
  })
  bom: boolean;
}
