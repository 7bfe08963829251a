import type { Type } from '@nestjs/common';
import { type Field, fieldsOf, namesOf } from '../../fields/field.js';
import type { Tenant } from '../gateway/tenant.js';
import { completeJsonColumnsOf, jsonColumnsOf, RecordParser } from './stored-record.js';

/** SQL expressions of fields that are not stored, by field. */
export type ComputedFields = Readonly<Record<string, string>>;

/** The SELECT lists of a record, and the parser of its JSON. */
export class RecordColumns<R extends object> {
  /** The columns of the table and the computed fields. */
  readonly columns: readonly string[];
  /** The SELECT list that converts `columns` to JSON. */
  readonly jsonColumns: string;
  /** Selects the record as JSON from its table. */
  readonly jsonFromTable: string;
  /** Like `jsonFromTable`, with times as clients receive them. */
  readonly completeJsonFromTable: string;
  /** The names of the stored fields. */
  readonly storedNames: readonly string[];
  /** The fields whose stored values may be ones that no input gives anew. */
  readonly restricted: readonly Field[];
  readonly hasComputed: boolean;
  readonly parser: RecordParser<R>;

  constructor(dto: Type<R>, computed: ComputedFields) {
    const json = jsonColumnsOf(dto);
    const selected = Object.entries(computed).map(([name, sql]) => `(${sql}) as ${name}`);
    this.columns = [...namesOf(dto), ...selected];
    this.jsonColumns = [json, ...Object.keys(computed)].join(', ');
    this.jsonFromTable = [json, ...selected].join(', ');
    this.completeJsonFromTable = [completeJsonColumnsOf(dto), ...selected].join(', ');
    this.storedNames = namesOf(dto);
    this.restricted = fieldsOf(dto).filter(({ newTextProblem }) => newTextProblem);
    this.hasComputed = selected.length > 0;
    this.parser = new RecordParser(dto, Object.keys(computed));
  }
}

/** The columns for each tenant: with computed fields only for a tenant `withComputedFields`. */
export class ColumnsOfTenants<R extends object> {
  readonly stored: RecordColumns<R>;
  private readonly computed: RecordColumns<R>;

  constructor(dto: Type<R>, computed: ComputedFields = {}) {
    this.stored = new RecordColumns(dto, {});
    this.computed = new RecordColumns(dto, computed);
  }

  of({ withComputedFields }: Tenant): RecordColumns<R> {
    return withComputedFields ? this.computed : this.stored;
  }

  /** Returns a record for the caller of a repository. */
  recordOf(tenant: Tenant, json: string): R {
    const { parser } = this.of(tenant);
    return tenant.readsRecordsLazily ? parser.lazyFromJson(json) : parser.fromJson(json);
  }
}
