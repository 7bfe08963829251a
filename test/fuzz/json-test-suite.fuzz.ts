import { trimText } from '../../src/platform/fields/kinds/text.js';
import { isUtf8 } from 'node:buffer';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Type } from '@nestjs/common';
import { fieldLabel } from '../../src/platform/errors/field-problem.js';
import { type Field, fieldsOf, isUpdate } from '../../src/platform/fields/field.js';
import { createLead } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { sessionHeader, McpHttpClient } from '../../src/testing/mcp-client.js';
import type { ToolCase } from '../support/mcp/tools.js';
import { expectWellFormed } from './support/answers.js';
import {
  type ApiInterface,
  API_INTERFACES,
  dtoOf,
  expectRefusal,
  KINDS,
  type Outcome,
} from './support/interfaces.js';
import { acceptsNull } from './support/inputs.js';
import { asJson, isStorable, isWithinBounds, type Json } from './support/json.js';
import { codePoints } from './support/texts.js';
import { kindOf } from './support/values.js';

/** https://github.com/nst/JSONTestSuite */
const FOLDER = path.resolve('test/json-test-suite');
const FILES = filesOfSuite();

/** A file of the suite: `y` must be accepted, `n` must be rejected, `i` can be either. */
interface SuiteFile {
  readonly name: string;
  readonly verdict: string;
  readonly bytes: Buffer;
}

/** The outcome of a request with a file. */
interface TestCase {
  readonly file: SuiteFile;
  readonly outcome: Outcome;
  /** The value of the file; undefined if strict parsing rejects it. */
  readonly value?: unknown;
}

let app: TestApp;
let tenant: Tenant;
let lead: string;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  ({ id: lead } = await createLead(tenant.api));
});
afterAll(() => app.stop());

it('the suite has 318 files', () => {
  expect(FILES).toHaveLength(318);
});

describe.each(API_INTERFACES)('as input by %s', (way, open) => {
  // Invalid JSON counts as a message to /mcp, and a key can send 600 messages per minute.
  const openInterface = async () => open(app, await app.key(tenant.id));

  describe.each(KINDS)('%s', (_, kind) => {
    it('is handled as a complete create', async () => {
      const api = await openInterface();
      const dto = dtoOf(app, kind.create);
      for (const file of FILES) {
        const outcome = await api.call(kind.create, undefined, file.bytes);
        expectDocument(dto, { file, outcome, value: expectedValue(file, file.bytes) }, way);
      }
    });

    it.each(['create', 'update'] as const)('is handled as a value in a valid %s', async (name) => {
      const tool = kind[name];
      const field = fieldForValue(dtoOf(app, tool));
      const api = await openInterface();
      const send = await createSender(api, kind.create, tool);
      for (const [head, tail] of wrappersFor(field)) {
        for (const file of FILES) {
          const bytes = splice(head, file.bytes, tail);
          const value = expectedValue(file, bytes, field.name);
          const outcome = await send(bytes);
          const trial = { file, value, outcome };
          if (value !== null || tool === kind.create) expectField(field, trial);
          else if (api.nullInUpdates === 'not given') expectAccepted(trial);
          else if (acceptsNull(dtoOf(app, tool), field)) expectField(field, trial);
          else expectRefusal(outcome, [field.name]);
        }
      }
    });

    if (way === 'REST') {
      it('is handled as a complete update', async () => {
        const api = await openInterface();
        const dto = dtoOf(app, kind.update);
        const id = await kind.update.makeRecord!(tenant);
        for (const file of FILES) {
          const outcome = await api.call(kind.update, id, file.bytes);
          expectDocument(dto, { file, outcome, value: expectedValue(file, file.bytes) }, way);
        }
      });
    }
  });
});

it('is answered with 400 as a complete message to /mcp', async () => {
  const { key } = await app.key(tenant.id);
  const caller = new McpHttpClient(app.url, key.key);
  const session = await caller.openSession();
  const brokenMessage = await caller.post('{', sessionHeader(session));
  const broken = brokenMessage.body.error.details;
  for (const { name, verdict, bytes } of FILES) {
    const answer = await caller.post(bytes, sessionHeader(session));
    expectWellFormed(answer);
    // No file is a JSON-RPC message.
    expect({ name, status: answer.status }).toEqual({ name, status: 400 });
    if (verdict === 'y') expect(answer.body.error.details).not.toEqual(broken);
  }
});

function filesOfSuite(): SuiteFile[] {
  const names = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));
  return names.map((name) => ({
    name,
    verdict: name.charAt(0),
    bytes: readFileSync(path.join(FOLDER, name)),
  }));
}

function splice(head: string, bytes: Buffer, tail: string): Buffer {
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from(tail)]);
}

/** The value of a document or of one of its fields; undefined if strict parsing rejects it. */
function expectedValue({ name, verdict }: SuiteFile, bytes: Buffer, field?: string): unknown {
  const document = parsed(bytes);
  // The suite defines what is valid JSON.
  expect({ name, isJson: document !== undefined }).toEqual({
    name,
    isJson: verdict === 'i' ? document !== undefined : verdict === 'y',
  });
  if (!isStorable(document) || name.includes('duplicated_key')) return undefined;
  return field === undefined ? document : (document as Json | undefined)?.[field];
}

function parsed(bytes: Buffer): unknown {
  if (!isUtf8(bytes)) return undefined;
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

/** The field that accepts any object or, if a DTO has none, any string. */
function fieldForValue(dto: Type<object>): Field {
  const fields = fieldsOf(dto);
  const isText = ({ schema, presence }: Field) => kindOf(schema) === 'text' && !presence.required;
  return fields.find(({ schema }) => kindOf(schema) === 'object') ?? fields.find(isText)!;
}

/** The JSON before and after a value of the field, or of a property inside it. */
function wrappersFor({ name, schema }: Field): (readonly [head: string, tail: string])[] {
  const itself = [`{"${name}":`, '}'] as const;
  return kindOf(schema) === 'object' ? [itself, [`{"${name}":{"v":`, '}}']] : [itself];
}

/** Returns a function that sends an object with one field. A create also gets the required fields. */
async function createSender(api: ApiInterface, create: ToolCase, tool: ToolCase) {
  if (tool !== create) {
    const id = await tool.makeRecord!(tenant);
    return (bytes: Buffer) => api.call(tool, id, bytes);
  }
  const required = fieldsOf(dtoOf(app, create)).filter(({ presence }) => presence.required);
  const examples = required.map(({ name, schema }) => [
    name,
    name === 'lead_id' ? lead : schema.examples?.[0],
  ]);
  const head = JSON.stringify(Object.fromEntries(examples)).slice(0, -1);
  return (bytes: Buffer) => api.call(create, undefined, splice(`${head},`, bytes.subarray(1), ''));
}

function expectDocument(dto: Type<object>, { file, outcome, value }: TestCase, way: string): void {
  const isRefused = { file: file.name, accepted: outcome.accepted };
  if (value === undefined) {
    expect(isRefused).toEqual({ file: file.name, accepted: false });
  } else if (isObject(value)) {
    const fields = fieldsOf(dto);
    const unknown = Object.keys(value).filter((key) => !fields.some(({ name }) => name === key));
    const missing = fields.filter(
      ({ name, presence }) => presence.required && !isUpdate(dto) && !(name in value),
    );
    const wrong = [
      ...unknown.map((key) => fieldLabel(key, 'body')),
      ...missing.map(({ name }) => name),
    ];
    if (wrong.length > 0) expectRefusal(outcome, wrong);
    else expect(isRefused).toEqual({ file: file.name, accepted: true });
  } else if (way === 'REST') {
    expectRefusal(outcome, ['body']);
  } else {
    // Arguments must be an object (-32602) and must not be nested too deeply.
    const codes = ['-32602', 'validation_error'];
    expect(codes).toContain('code' in outcome ? outcome.code : file.name);
  }
}

function expectAccepted({ file, outcome }: TestCase): void {
  expect({ file: file.name, outcome }).toMatchObject({ outcome: { accepted: true } });
}

function expectField(field: Field, { file, outcome, value }: TestCase): void {
  const { name, schema } = field;
  const stored = storedAs(field, value);
  if (value !== undefined && stored !== undefined) {
    const got = outcome.accepted ? outcome.value[name] : outcome;
    expect({ file: file.name, got }).toEqual({ file: file.name, got: asJson(stored) });
  } else if (value !== undefined || (file.verdict === 'y' && kindOf(schema) === 'object')) {
    expectRefusal(outcome, [name]);
  } else {
    expect({ file: file.name, outcome }).toMatchObject({
      outcome: { accepted: false, code: 'validation_error' },
    });
  }
}

/** The stored form of a value; undefined if the field rejects it. */
function storedAs({ schema }: Field, value: unknown): unknown {
  const { maxLength = 0 } = schema;
  const isText = kindOf(schema) === 'text';
  if (value === null) return isText ? null : {};
  if (!isText) return isWithinBounds(value, schema) ? value : undefined;
  if (typeof value !== 'string' || codePoints(trimText(value)) > maxLength) return undefined;
  return trimText(value) || null;
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
