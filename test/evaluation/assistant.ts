import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import type { JsonSchema } from '../../src/platform/fields/schema/json-schema.js';
import { type Arguments, failureOf, type ToolFailure } from '../support/mcp/agent.js';
import { UUID } from '../../src/platform/fields/kinds/uuid.js';
import { Filters, type Where } from './filters.js';
import { bestOf, fit } from './words.js';

/** The access of the assistant to Latitude. */
export interface Client {
  listTools(): Promise<Tool[]>;
  call(name: string, args: Arguments): Promise<CallToolResult>;
}

/** The user of the assistant, and the clock. */
export interface UserAndClock {
  /** Whether the user confirms an action. */
  confirm(question: string): boolean;
  /** A replacement of a rejected value; undefined if there is none. */
  correct(fact: string, problem: string): unknown;
  wait(seconds: number): Promise<void>;
}

export type Row = Readonly<Record<string, unknown>> & { readonly id: string };

/** Known values by their description. A record represents its id. */
export type Facts = Readonly<Record<string, unknown>>;

/** An intended action: a verb, its object, the known facts, and whether it only reads. */
interface Intent {
  readonly verb: string;
  readonly object: string;
  readonly facts: Facts;
  readonly readOnly: boolean;
}

/** A call of a tool, and the fact in each argument. */
interface Use {
  readonly tool: Tool;
  readonly args: Arguments;
  readonly factIn: ReadonlyMap<string, string>;
}

type Result = Record<string, unknown>;

/** One step of the transcript. */
export type Entry =
  | { readonly call: string; readonly args: Arguments; readonly result: CallToolResult }
  | { readonly asks: string; readonly answer: unknown }
  | { readonly says: string };

/** The assistant cannot solve the task. The message is its answer to the user. */
export class Unable extends Error {}

function tooMany(count: number): Unable {
  return new Unable(`I find ${count} that fit. Which do you mean?`);
}

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

/** Validators by schema as JSON, because compiling is slow and each list of tools has new objects. */
const validators = new Map<string, ValidateFunction>();

/**
 * An agent without a model. It compares words of the list of tools and of results to choose a tool, to assign
 * facts to arguments and to react to errors.
 */
export class Assistant {
  readonly log: Entry[] = [];

  private constructor(
    private readonly client: Client,
    private readonly userAndClock: UserAndClock,
    readonly tools: readonly Tool[],
  ) {}

  static async connect(client: Client, userAndClock: UserAndClock): Promise<Assistant> {
    return new Assistant(client, userAndClock, await client.listTools());
  }

  /** Finds records, by a tool that changes nothing. */
  async find(object: string, facts: Facts): Promise<Row[]> {
    const page = await this.do({ verb: 'find', object, facts, readOnly: true });
    const { data, meta } = page as { data: Row[]; meta: { total: number } };
    if (data.length < meta.total) throw tooMany(meta.total);
    return data;
  }

  /** Finds the only matching record. Throws if there is none or more than one. */
  async findOne(object: string, facts: Facts): Promise<Row> {
    const records = await this.find(object, facts);
    const [record] = records;
    if (!record) throw new Unable(`I find no such ${object}.`);
    if (records.length > 1) throw tooMany(records.length);
    return record;
  }

  /** Reads every field of one record, because a list has only summaries. */
  async get(object: string, record: Row): Promise<Row> {
    const facts = { [object]: record };
    return (await this.do({ verb: 'get', object, facts, readOnly: true })) as Row;
  }

  /** Reads what is not a record, such as free times. */
  look(verb: string, object: string, facts: Facts): Promise<Result> {
    return this.do({ verb, object, facts, readOnly: true });
  }

  /** Executes a change, after a confirmation if the tool requires one. */
  async act(verb: string, object: string, facts: Facts): Promise<Row> {
    return (await this.do({ verb, object, facts, readOnly: false })) as Row;
  }

  /** Reads what fits conditions, by a tool that changes nothing. An error teaches it the names of operators. */
  async ask(verb: string, object: string, facts: Facts, where: readonly Where[]): Promise<Result> {
    const filters = new Filters(this.tools, object);
    const said = Object.entries(facts).map(([fact, value]) => [fact, filters.named(fact, value)]);
    const known = Object.fromEntries(said) as Facts;
    for (let attempts = 0; ; attempts++) {
      const wanted = { ...known, conditions: filters.of(where) };
      const use = this.choose({ verb, object, facts: wanted, readOnly: true });
      const result = await this.send(use);
      if (!result.isError) return result.structuredContent ?? {};
      const failure = failureOf(result);
      if (attempts > 0 || !filters.learn(failure)) throw new Unable(failure.message);
    }
  }

  say(text: string): void {
    this.log.push({ says: text });
  }

  private async do(intent: Intent): Promise<Result> {
    const use = this.choose(intent);
    if (fit('confirm', use.tool) > 0) await this.confirm(intent, use.tool);
    return this.call(intent, use);
  }

  /** The tool that matches best among those with an argument for every fact. */
  private choose({ verb, object, facts, readOnly }: Intent): Use {
    const wanted = `${verb} ${object}`;
    const uses = this.tools
      .filter(({ annotations }) => annotations?.readOnlyHint === readOnly)
      .flatMap((tool) => fill(tool, facts) ?? [])
      .map((use) => ({ ...use.tool, use }));
    const use = bestOf(wanted, uses)?.use ?? this.mentioned(wanted);
    if (!use) throw new Unable(`I have no tool to ${wanted}.`);
    return use;
  }

  /** A tool that only descriptions mention. The error of its call reports why it is not available. */
  private mentioned(wanted: string): Use | undefined {
    const clauses = this.tools.flatMap(({ description = '' }) => description.split(/[;:.] ?/));
    const tools = clauses.flatMap((description) => {
      const [name] = /\b[a-z]+(_[a-z]+)+\b/.exec(description) ?? [];
      if (!name || this.tools.some((tool) => tool.name === name)) return [];
      return { name, description, inputSchema: { type: 'object' as const } };
    });
    const tool = bestOf(wanted, tools);
    return tool && { tool, args: {}, factIn: new Map() };
  }

  private async confirm(intent: Intent, tool: Tool): Promise<void> {
    const { verb, object, facts } = intent;
    const dryRun = fill(tool, { ...facts, 'dry run': true });
    if (dryRun) await this.call(intent, dryRun);
    const asks = `May I ${verb} the ${object} ${Object.values(facts).map(inWords).join(', ')}?`;
    const answer = this.userAndClock.confirm(asks);
    this.log.push({ asks, answer });
    if (!answer) throw new Unable('Then I leave it as it is.');
  }

  private async call(intent: Intent, use: Use): Promise<Result> {
    const result = await this.send(use);
    if (!result.isError) return result.structuredContent ?? {};
    return this.recover(intent, use, failureOf(result));
  }

  private async send({ tool, args }: Use): Promise<CallToolResult> {
    const result = await this.client.call(tool.name, args);
    this.log.push({ call: tool.name, args, result });
    return result;
  }

  /** Handles the error of a call. */
  private async recover(intent: Intent, use: Use, failure: ToolFailure): Promise<Result> {
    const { code, message, details = [], required_scope, retry_after_seconds } = failure;
    const { verb, object, facts } = intent;
    const existing = details.find(({ existing_id }) => existing_id);
    if (code === 'rate_limit_exceeded') {
      await this.userAndClock.wait(retry_after_seconds!);
      return this.call(intent, use);
    }
    if (code === 'insufficient_scope') {
      throw new Unable(`I cannot ${verb} the ${object}: the key lacks ${required_scope}.`);
    }
    if (code === 'duplicate' && existing) {
      const known = { [object]: { id: existing.existing_id }, ...facts };
      return this.do({ ...intent, verb: 'update', facts: known });
    }
    const [proposed] = details.flatMap(({ free = [] }) => free);
    if (code === 'slot_taken' && proposed) {
      const times = [...use.factIn].flatMap(([argument, fact]) =>
        argument in proposed ? [[fact, proposed[argument]] as const] : [],
      );
      return this.do({ ...intent, facts: { ...facts, ...Object.fromEntries(times) } });
    }
    if (code === 'validation_error') {
      return this.do({ ...intent, facts: { ...facts, ...this.corrections(use, details) } });
    }
    throw new Unable(message);
  }

  private corrections({ factIn }: Use, details: NonNullable<ToolFailure['details']>): Facts {
    const corrections = details.map(({ field, message }) => {
      const fact = factIn.get(field) ?? field;
      const answer = this.userAndClock.correct(fact, message);
      this.log.push({ asks: `${fact} ${message}`, answer });
      if (answer === undefined) throw new Unable(`The ${fact} ${message}.`);
      return [fact, answer] as const;
    });
    return Object.fromEntries(corrections);
  }
}

/** Assigns every fact to an argument of a tool; undefined if that is not possible. */
function fill(tool: Tool, facts: Facts): Use | undefined {
  const { properties = {}, required = [] } = tool.inputSchema as JsonSchema;
  const args: Record<string, unknown> = {};
  const factIn = new Map<string, string>();
  for (const [fact, known] of Object.entries(facts)) {
    const value = isRow(known) ? known.id : known;
    const places = Object.entries(properties)
      .filter(([name, schema]) => !(name in args) && validatorOf(schema)(value))
      .map(([name, schema]) => ({ name, description: schema.description }));
    const place = bestOf(fact, places);
    if (!place) return undefined;
    args[place.name] = value;
    factIn.set(place.name, fact);
  }
  return required.every((name) => name in args) ? { tool, args, factIn } : undefined;
}

function validatorOf(schema: JsonSchema): ValidateFunction {
  const json = JSON.stringify(schema);
  const validate = validators.get(json) ?? ajv.compile(schema);
  validators.set(json, validate);
  return validate;
}

/** The name of a record: its first two strings that are not ids. */
function inWords(fact: unknown): string {
  if (!isRow(fact)) return String(fact);
  const texts = Object.values(fact).filter((value) => typeof value === 'string');
  return texts
    .filter((text) => !UUID.test(text))
    .slice(0, 2)
    .join(', ');
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && 'id' in value;
}
