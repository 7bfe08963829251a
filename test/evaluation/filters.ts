import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import type { JsonSchema } from '../../src/platform/fields/schema/json-schema.js';
import type { ToolFailure } from '../support/mcp/agent.js';
import { bestOf, type Described } from './words.js';

/** A condition: what it is about, how it compares in words, or nothing if it is equal, and with which value. */
export type Where = readonly [about: string, comparison: string, value: unknown];

/** Conditions of related records, as a value. */
export class Related {
  constructor(readonly where: readonly Where[]) {}
}

/** Writes conditions as filters, with the names in the list of tools and in errors. */
export class Filters {
  private readonly names: Described[];
  private readonly groupings: Described[];
  private operators: string[];

  constructor(
    private readonly tools: readonly Tool[],
    object: string,
  ) {
    const singular = object.replace(/s$/, '');
    const own = tools.filter(({ name }) => name.includes(singular));
    const schemas = own.map(({ inputSchema }) => (inputSchema as JsonSchema).properties ?? {});
    const examples = schemas.flatMap(({ filter }) => keysIn(filter?.description));
    const columns = schemas.flatMap(({ sort_by, fields }) => [
      ...((sort_by?.enum ?? []) as string[]),
      ...((fields?.items?.enum ?? []) as string[]),
    ]);
    const written = schemas.filter((_, at) => own[at]!.annotations?.readOnlyHint === false);
    const fields = written.flatMap((properties) => [
      ...describedIn(properties),
      ...describedIn(properties.custom_fields?.properties ?? {}, 'custom_fields.'),
    ]);
    this.operators = examples;
    this.names = [...fields, ...[...columns, ...examples].map((name) => ({ name }))];
    const counted = tools.flatMap(({ inputSchema }) => {
      return (inputSchema as JsonSchema).properties?.by?.description ?? [];
    });
    const ofCounts = counted.flatMap((text) => text.match(/\b[a-z]+(_[a-z]+)*\b/g) ?? []);
    const custom = fields.filter(({ name }) => name.startsWith('custom_fields.'));
    this.groupings = [...ofCounts.map((name) => ({ name })), ...custom];
  }

  /** The name of what records are counted by; any other fact is itself. */
  named(fact: string, value: unknown): unknown {
    return fact === 'counts by' ? bestOf(String(value), this.groupings)?.name : value;
  }

  of(where: readonly Where[]): object {
    const conditions = where.map(([about, comparison, given]) => {
      const isRelated = given instanceof Related;
      const value = isRelated ? new Filters(this.tools, about).of(given.where) : given;
      const name = bestOf(about, this.names)?.name ?? about;
      const compared = comparison === '' ? value : { [this.operator(comparison)]: value };
      return [name, compared] as const;
    });
    return Object.fromEntries(conditions);
  }

  /** @returns whether the error lists operators */
  learn({ details = [] }: ToolFailure): boolean {
    const lists = details.flatMap(
      ({ message }) => /operators are ([\w, ]+)/.exec(message)?.[1] ?? [],
    );
    this.operators = [...this.operators, ...lists.flatMap((list) => list.split(', '))];
    return lists.length > 0;
  }

  /** An operator that consists of the words or of their initials. An unknown one is tried as it is said. */
  private operator(comparison: string): string {
    const words = comparison.split(' ');
    const initials = words.filter((word) => word !== 'or').map(([initial]) => initial);
    const spellings = [words.join('_'), initials.join('')];
    return this.operators.find((name) => spellings.includes(name)) ?? words.join('_');
  }
}

function describedIn(properties: Readonly<Record<string, JsonSchema>>, prefix = ''): Described[] {
  return Object.entries(properties).map(([name, { description = '' }]) => {
    return { name: `${prefix}${name}`, description };
  });
}

/** The keys of the JSON in a description. */
function keysIn(description = ''): string[] {
  return [...description.matchAll(/"(\w+)":/g)].map(([, key]) => key!);
}
