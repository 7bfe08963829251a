// Finds what src uses of packages and of Node.js that is not their API, and compares it with .known-internals.
import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import path from 'node:path';
import ts from 'typescript';
import { sourceFiles } from './source-files.mjs';

/** The file of known findings, one on each line. */
const KNOWN = '.known-internals';

/** Paths that a package documents, although `exports` does not list them one by one. */
const DOCUMENTED =
  /^@modelcontextprotocol\/sdk\/(client|inMemory|server|shared|types|validation)\b|^@faker-js\/faker\/locale\/|^ajv\/dist\/2020\.js$|^semver\/(functions|ranges)\//;

/** Properties of the Model Context Protocol whose names begin with an underscore. */
const PROTOCOL_NAMES = new Set(['_meta']);

const files = sourceFiles();
const { options } = ts.parseJsonConfigFileContent(
  ts.readConfigFile('tsconfig.json', ts.sys.readFile).config,
  ts.sys,
  process.cwd(),
);
const program = ts.createProgram(files, { ...options, allowJs: true });
const checker = program.getTypeChecker();
/** Each finding with a place where it is. */
const findings = new Map();

for (const file of files) {
  if (/-internals\.m?ts$/.test(file)) findings.set(`${file}: is named -internals`, file);
  const source = program.getSourceFile(file);
  const visit = (node) => {
    const finding = [importOf, castOf, memberOf, metadataOf, replacementOf]
      .map((rule) => rule(node))
      .find((found) => found !== undefined);
    const line = source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
    if (finding) findings.set(`${file}: ${finding}`, `line ${line}`);
    ts.forEachChild(node, visit);
  };
  visit(source);
}
compareWithKnown();

/** A path of a package that is neither in its `exports` nor documented. */
function importOf(node) {
  if (!ts.isStringLiteral(node) || !isModuleName(node)) return undefined;
  const [, name, subpath] = /^(@[^/]+\/[^/]+|[^@/.][^/]*)\/(.+)$/.exec(node.text) ?? [];
  if (!name || isBuiltin(node.text) || DOCUMENTED.test(node.text)) return undefined;
  const manifest = path.join('node_modules', name, 'package.json');
  const { exports = {} } = existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : {};
  const isExported = `./${subpath}` in exports && !subpath.includes('internal');
  return isExported ? undefined : `imports ${node.text}`;
}

function isModuleName({ parent }) {
  return (
    ts.isImportDeclaration(parent) ||
    ts.isExportDeclaration(parent) ||
    (ts.isLiteralTypeNode(parent) && ts.isImportTypeNode(parent.parent)) ||
    (ts.isCallExpression(parent) && /^(import|require)$/.test(parent.expression.getText()))
  );
}

/** A cast of an object of a package to a shape with other members, or of a shape to an object of a package. */
function castOf(node) {
  if (!ts.isAsExpression(node)) return undefined;
  const isDouble = ts.isAsExpression(node.expression);
  const from = checker.getTypeAtLocation(isDouble ? node.expression.expression : node.expression);
  const to = checker.getTypeFromTypeNode(node.type);
  const isImitation = isDouble && isOwn(from) && isOfPackage(to);
  const isPrivate =
    (isOfPackage(from) && isOwn(to) && hasOtherMembers(to, from)) ||
    (isUnknown(from) && isOwn(to) && namesNonPublicMember(to, node.getSourceFile()));
  // Without `unknown`, TypeScript allows a cast to a type of src that extends that of the package.
  const isSubtype = !isDouble && !isUnknown(from) && checker.isTypeAssignableTo(to, from);
  if (isSubtype || !(isImitation || isPrivate)) return undefined;
  return `casts ${checker.typeToString(from)} to ${node.type.getText().replace(/\s+/g, ' ')}`;
}

/** A member whose name marks it as private, or that a package declares as private or protected. */
function memberOf(node) {
  const name =
    (ts.isPropertyAccessExpression(node) && node.name.text) ||
    (ts.isElementAccessExpression(node) &&
      ts.isStringLiteral(node.argumentExpression) &&
      node.argumentExpression.text) ||
    (ts.isBindingElement(node) &&
      ts.isObjectBindingPattern(node.parent) &&
      (node.propertyName ?? node.name).getText()) ||
    '';
  const isPrivate = /^_[a-z]/i.test(name) && !PROTOCOL_NAMES.has(name);
  return isPrivate || isNonPublicElement(node) ? `reads ${name}` : undefined;
}

/** Whether brackets bypass what TypeScript checks with a dot. */
function isNonPublicElement(node) {
  if (!ts.isElementAccessExpression(node)) return false;
  const symbol = checker.getSymbolAtLocation(node.argumentExpression);
  return isDeclaredIn(symbol, isPackageFile) && symbol.declarations.some(isNonPublic);
}

/** A key of metadata that a package does not export. The keys of src are symbols, and TypeScript documents its own. */
function metadataOf(node) {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression))
    return undefined;
  const { expression: object, name } = node.expression;
  const isOfReflect = object.getText() === 'Reflect' && /Metadata$/.test(name.text);
  const isReflector = checker.getTypeAtLocation(object).symbol?.name === 'Reflector';
  const [key] = node.arguments;
  if (!key || !(isOfReflect || isReflector)) return undefined;
  const type = checker.getTypeAtLocation(key);
  const isKnown = !type.isStringLiteral() || type.value.startsWith('design:') || isExported(key);
  return isKnown ? undefined : `reads the metadata ${type.value}`;
}

/** Whether an expression is a constant of a package. */
function isExported(expression) {
  const symbol = checker.getSymbolAtLocation(expression);
  const isAlias = symbol && symbol.flags & ts.SymbolFlags.Alias;
  return isDeclaredIn(isAlias ? checker.getAliasedSymbol(symbol) : symbol, isPackageFile);
}

/** A prototype that is set, or a member of an object of a package that is replaced or added. */
function replacementOf(node) {
  if (ts.isCallExpression(node)) {
    const called = node.expression.getText();
    if (/^(Object|Reflect)\.setPrototypeOf$/.test(called)) return `calls ${called}`;
    if (called !== 'Object.assign') return undefined;
    const [target, ...sources] = node.arguments.map((argument) =>
      checker.getTypeAtLocation(argument),
    );
    const isExtended = isOfPackage(target) && sources.some((each) => hasOtherMembers(each, target));
    return isExtended ? `extends ${checker.typeToString(target)} by Object.assign` : undefined;
  }
  const isAssignment =
    ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
  if (!isAssignment || !ts.isPropertyAccessExpression(node.left)) return undefined;
  const symbol = checker.getSymbolAtLocation(node.left.name);
  const isMethod =
    isDeclaredIn(symbol, isPackageFile) &&
    symbol.declarations.some(({ parent }) => ts.isClassLike(parent)) &&
    symbol.flags & ts.SymbolFlags.Method;
  const isOfPrototype = node.left.expression.getText().endsWith('.prototype');
  return isMethod || isOfPrototype ? `assigns ${node.left.getText()}` : undefined;
}

/** Whether a type has the name of a private or protected member of a class that a file imports from a package. */
function namesNonPublicMember(type, source) {
  const classes = source.statements
    .filter(ts.isImportDeclaration)
    .flatMap(({ importClause }) => importClause?.namedBindings?.elements ?? [])
    .map(({ name }) => checker.getAliasedSymbol(checker.getSymbolAtLocation(name)))
    .filter((symbol) => symbol.flags & ts.SymbolFlags.Class && isDeclaredIn(symbol, isPackageFile));
  return checker
    .getPropertiesOfType(type)
    .some(({ name }) =>
      classes.some((one) => one.members?.get(name)?.declarations?.some(isNonPublic)),
    );
}

function isUnknown({ flags }) {
  return Boolean(flags & (ts.TypeFlags.Unknown | ts.TypeFlags.Any));
}

/** Whether a type has a member that is not a public member of another one. */
function hasOtherMembers(type, other) {
  return checker.getPropertiesOfType(type).some(({ name }) => {
    const member = checker.getPropertyOfType(other, name);
    return !member || (member.declarations ?? []).some(isNonPublic);
  });
}

function isNonPublic(declaration) {
  return ts.getCombinedModifierFlags(declaration) & ts.ModifierFlags.NonPublicAccessibilityModifier;
}

function isOfPackage(type) {
  return isDeclaredIn(checker.getNonNullableType(type).symbol, isPackageFile);
}

function isOwn(type) {
  return isDeclaredIn(type.aliasSymbol ?? type.symbol, ({ fileName }) => !isInstalled(fileName));
}

function isDeclaredIn(symbol, condition) {
  return (symbol?.declarations ?? []).some((each) => condition(each.getSourceFile()));
}

function isPackageFile(source) {
  return isInstalled(source.fileName) && !program.isSourceFileDefaultLibrary(source);
}

function isInstalled(fileName) {
  return fileName.includes('/node_modules/');
}

/** Fails the process if a finding is not in the file of known ones, or if a line of this file is no longer found. */
function compareWithKnown() {
  const lines = readFileSync(KNOWN, 'utf8').split('\n');
  const known = new Set(lines.filter((line) => line !== ''));
  const problems = [
    ...[...findings]
      .filter(([finding]) => !known.has(finding))
      .map(([finding, place]) => `${finding} (${place})`),
    ...[...known]
      .filter((finding) => !findings.has(finding))
      .map((finding) => `no longer found, so remove it from ${KNOWN}: ${finding}`),
  ].sort();
  for (const problem of problems) console.error(`check:internals: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log(`check:internals: nothing new; ${known.size} known in ${KNOWN}`);
}
