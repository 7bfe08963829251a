import type { Type } from '@nestjs/common';
import { type Field, fieldsOf, namesOf } from '../../fields/field.js';
import type { TenantCall } from '../call.js';
import { jsonColumnsOf, RecordParser } from './stored-record.js';

/** Fields that are not stored. */
export interface ComputedFields {
  /** SQL expressions by field. They must never come from a caller. */
  readonly fields: Readonly<Record<string, string>>;
  /** Whether the records of a call have them. */
  readonly isFor: (call: TenantCall) => boolean;
}

/** The SELECT lists of a record, and the parser of its JSON. */
export class RecordColumns<R extends object> {
  /** The columns of the table and the computed fields. */
  readonly columns: readonly string[];
  /** The SELECT list that converts rows of `columns` to JSON, with the computed fields by their names. */
  readonly jsonColumns: string;
  /** The SELECT list that does both at once: the stored columns for JSON, and the expressions of computed fields. */
  readonly jsonFromTable: string;
  /** The names of the stored fields. */
  readonly storedNames: readonly string[];
  /** The fields with rules for new values that stored values, which may be older, need not meet. */
  readonly restricted: readonly Field[];
  readonly hasComputed: boolean;
  readonly parser: RecordParser<R>;

  /**
   * @param computed SQL expressions of fields that are not stored, by field
   * @param names the stored fields
   */
  constructor(dto: Type<R>, computed: ComputedFields['fields'] = {}, names = namesOf(dto)) {
    const fields = fieldsOf(dto).filter(({ name }) => names.includes(name));
    const json = jsonColumnsOf(dto, fields);
    const selected = Object.entries(computed).map(([name, sql]) => `(${sql}) as ${name}`);
    this.columns = [...fields.map(({ name }) => name), ...selected];
    this.jsonColumns = [json, ...Object.keys(computed)].join(', ');
    this.jsonFromTable = [json, ...selected].join(', ');
    this.storedNames = fields.map(({ name }) => name);
    this.restricted = fields.filter(({ newTextProblem }) => newTextProblem);
    this.hasComputed = selected.length > 0;
    this.parser = new RecordParser(dto);
  }
}

/** The columns for each call: with computed fields only for some. */
export class ColumnsOfCalls<R extends object> {
  readonly stored: RecordColumns<R>;
  readonly computed: RecordColumns<R> | undefined;

  constructor(
    private readonly dto: Type<R>,
    private readonly fields?: ComputedFields,
  ) {
    this.stored = new RecordColumns(dto);
    this.computed = fields && new RecordColumns(dto, fields.fields);
  }

  /** The columns of some fields: the stored ones, and the computed ones of the call. */
  some(call: TenantCall, names: readonly string[]): RecordColumns<R> {
    const computed = this.fields?.isFor(call) ? Object.entries(this.fields.fields) : [];
    const named = computed.filter(([name]) => names.includes(name));
    return new RecordColumns(this.dto, Object.fromEntries(named), [...names]);
  }

  of(call: TenantCall): RecordColumns<R> {
    return this.computed && this.fields?.isFor(call) ? this.computed : this.stored;
  }
}
