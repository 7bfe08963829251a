import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

const ROOT = process.cwd();
const page = readFileSync(path.join(ROOT, 'docs/operating/log.md'), 'utf8');
const [fields = '', messages = ''] = page.split(/^## Messages$/m);
const inFirstColumn = (text: string) =>
  Array.from(text.matchAll(/^\| (`.*?) +\|/gm), ([, cell = '']) =>
    Array.from(cell.matchAll(/`([^`]+)`/g), ([, name]) => name!),
  ).flat();

/** The source of the server and of its modules. */
const sources = readdirSync(path.join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts') && !/\.spec\.ts$|^(testing|client)\//.test(name))
  .map((name) => readFileSync(path.join(ROOT, 'src', name), 'utf8'));

interface LogLine {
  readonly level: string;
  readonly fields: readonly string[];
  /** Undefined if it is not a literal or a constant of the file. */
  readonly message: string | undefined;
}

/** What a file writes to the log: `logger.warn({ field }, 'message')`. */
function linesIn(text: string): LogLine[] {
  const file = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
  const constants = new Map<string, ts.Expression>();
  const lines: LogLine[] = [];
  const resolve = (node?: ts.Expression) =>
    node && ts.isIdentifier(node) ? (constants.get(node.text) ?? node) : node;
  const visit = (node: ts.Node): void => {
    if (ts.isVariableDeclaration(node) && node.initializer && ts.isIdentifier(node.name)) {
      constants.set(node.name.text, node.initializer);
    }
    if (ts.isCallExpression(node) && isOfLogger(node.expression)) {
      const [first, second] = node.arguments.map(resolve);
      const text = second ?? first;
      lines.push({
        level: ts.isPropertyAccessExpression(node.expression) ? node.expression.name.text : '',
        fields: first && ts.isObjectLiteralExpression(first) ? namesOf(first) : [],
        message: text && ts.isStringLiteral(text) ? text.text : undefined,
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return lines;
}

function isOfLogger(node: ts.Expression): boolean {
  const isAccess = ts.isPropertyAccessExpression(node) || ts.isElementAccessExpression(node);
  return isAccess && ts.isIdentifier(node.expression) && node.expression.text === 'logger';
}

function namesOf({ properties }: ts.ObjectLiteralExpression): string[] {
  return properties.flatMap(({ name }) => (name && ts.isIdentifier(name) ? [name.text] : []));
}

const lines = sources.filter((text) => text.includes('logger')).flatMap(linesIn);

it('the page of the log states each field', () => {
  const stated = inFirstColumn(fields);
  const written = [...new Set(lines.flatMap((line) => line.fields))];
  expect(written.length).toBeGreaterThan(25);
  expect(written.filter((name) => !stated.includes(name))).toEqual([]);
});

it('the page of the log states the messages of warnings and errors', () => {
  const stated = inFirstColumn(messages);
  const written = lines.flatMap(({ level, message }) =>
    message !== undefined && /^(warn|error|)$/.test(level) ? [message] : [],
  );
  expect(written.length).toBeGreaterThan(25);
  expect(written.filter((message) => !stated.includes(message))).toEqual([]);
});

it('the page of the log states no message that is not written', () => {
  const all = sources.join('\n');
  const stated = inFirstColumn(messages).filter((message) => !all.includes(`'${message}'`));
  expect(stated).toEqual([]);
});
