import { fieldLabel } from '../../errors/field-problem.js';
import { declareField } from '../../fields/field.js';
import { problemRule } from '../../fields/kinds/rules.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';

/** A field about related records, which reads add on request. */
export interface IncludedField {
  /** The schema of its value. */
  readonly schema: JsonSchema;
  /** Query of its JSON value for a row of the table. It must never come from a caller. */
  readonly sql: string;
}

/** What the parameter `include` of a kind of record can name (docs/contract/lists.md#related-records). */
export class Includes<Name extends string = string> {
  private readonly provided = new Map<string, IncludedField>();

  /** @param scopes the scope that a key needs for each field */
  constructor(private readonly scopes: Readonly<Record<Name, string>>) {}

  get names(): readonly string[] {
    return Object.keys(this.scopes);
  }

  scopesOf(names: readonly string[]): string[] {
    return names.flatMap((name) => this.scopes[name as Name] ?? []);
  }

  /** Defines a field. The module of the related records calls it when it is loaded, because this one may not know it. */
  provide(name: Name, field: IncludedField): void {
    this.provided.set(name, field);
  }

  /** The fields by name: those of a request, or all. */
  fieldsOf(names: readonly string[] = this.names): [string, IncludedField][] {
    return names.flatMap((name) => {
      const field = this.provided.get(name);
      return field ? [[name, field]] : [];
    });
  }

  /** SQL of fields by name. */
  sqlOf(names: readonly string[]): Record<string, string> {
    return Object.fromEntries(this.fieldsOf(names).map(([name, { sql }]) => [name, sql]));
  }
}

/** Declares the parameter `include`. Its value is the array of the names. */
export function Include(includes: Includes): PropertyDecorator {
  const { names } = includes;
  const all = names.join(', ');
  const problemOf = (given: unknown) => {
    const unknown = (given as readonly string[]).find((name) => !names.includes(name));
    if (unknown === undefined) return undefined;
    const allowed = names.length > 1 ? `some of ${all}, separated by commas` : all;
    return `must be ${allowed}; there is no ${fieldLabel(unknown, 'empty name')}`;
  };
  return declareField(
    {
      description: `Fields about related records to add: ${all}. Several are separated by commas.`,
      example: names[0],
    },
    {
      schema: { type: 'string' },
      rules: [problemRule('areIncluded', problemOf)],
      normalize: (value) => {
        if (typeof value !== 'string') return value;
        return [...new Set(value.split(',').map((name) => name.trim()))];
      },
      scopesOf: (value) => (Array.isArray(value) ? includes.scopesOf(value as string[]) : []),
    },
  );
}
