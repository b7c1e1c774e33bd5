// The operations of the page become trusted documents when it is built: a call of
// graphql or operation becomes the SHA-256 of its text with its fragments, and the texts
// are a manifest of their own, which the server runs by those ids. Nothing of the page is
// run for it: the texts are read from the syntax.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { Kind, parse } from 'graphql';
import ts from 'typescript';
import type { Plugin } from 'vite';

/** The functions of app/graph/graphql.ts that take a text. */
const makers = new Set(['graphql', 'operation']);

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

class Source {
  readonly file: ts.SourceFile;
  constructor(readonly path: string, text = readFileSync(path, 'utf8')) {
    this.file = ts.createSourceFile(path, text, ts.ScriptTarget.ES2022, true, path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS);
  }

  fail(node: ts.Node, why: string): never {
    throw new Error(`${this.path}:${this.file.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${why}`);
  }

  /** The calls that make an operation or a fragment. */
  *calls(node: ts.Node = this.file): Generator<ts.CallExpression> {
    if (isMade(node)) yield node;
    const inside: ts.CallExpression[] = [];
    ts.forEachChild(node, (child) => void inside.push(...this.calls(child)));
    yield* inside;
  }

  /** The text of an expression of constants. */
  textOf(node: ts.Expression): string {
    if (ts.isStringLiteralLike(node) || ts.isNumericLiteral(node)) return node.text;
    if (ts.isTemplateExpression(node)) return node.head.text + node.templateSpans.map(({ expression, literal }) => this.textOf(expression) + literal.text).join('');
    if (ts.isIdentifier(node)) return this.constant(node);
    if (isMade(node)) return this.made(node);
    return this.fail(node, 'an operation is made of texts, constants and fragments only');
  }

  /** The text of an operation or a fragment, as app/graph/graphql.ts joins it. */
  made({ arguments: [text, fragments] }: ts.CallExpression): string {
    if (fragments && !ts.isArrayLiteralExpression(fragments)) this.fail(fragments, 'fragments stand in an array');
    return [text!, ...((fragments as ts.ArrayLiteralExpression | undefined)?.elements ?? [])].map((one) => this.textOf(one)).join('\n');
  }

  private constant(name: ts.Identifier): string {
    for (const statement of this.file.statements) {
      if (ts.isVariableStatement(statement)) {
        const found = statement.declarationList.declarations.find((one) => ts.isIdentifier(one.name) && one.name.text === name.text);
        if (found?.initializer) return this.textOf(found.initializer);
      } else if (ts.isImportDeclaration(statement) && statement.importClause?.namedBindings && ts.isNamedImports(statement.importClause.namedBindings)) {
        const found = statement.importClause.namedBindings.elements.find((one) => one.name.text === name.text);
        if (found) return this.imported((statement.moduleSpecifier as ts.StringLiteral).text, found.propertyName ?? found.name);
      }
    }
    return this.fail(name, `${name.text} is no constant of the module, nor imported`);
  }

  private imported(from: string, name: ts.ModuleExportName): string {
    const path = ['.ts', '.tsx'].map((ending) => resolve(dirname(this.path), from + ending)).find(existsSync);
    if (!path || !ts.isIdentifier(name)) return this.fail(name, `${name.text} is not of a module of the page`);
    return new Source(path).constant(name);
  }
}

const isMade = (node: ts.Node): node is ts.CallExpression => ts.isCallExpression(node) && ts.isIdentifier(node.expression) && makers.has(node.expression.text);

/** The operations of a module, and where they stand; a fragment has the text "". */
function made(source: Source) {
  return [...source.calls()].map((call) => {
    const text = source.made(call);
    const operations = parse(text).definitions.filter(({ kind }) => kind === Kind.OPERATION_DEFINITION).length;
    if (operations > 1) source.fail(call, 'a document has one operation');
    return { start: call.getStart(), end: call.getEnd(), text: operations === 1 ? text : '' };
  });
}

const isOfPage = (name: string) => /\.tsx?$/.test(name) && !/\.(test|d)\.ts$/.test(name) && !name.endsWith('graph/graphql.ts');

/** The operations of a folder, and the modules that they stand in. */
export function operationsOf(folder: string): { path: string; text: string }[] {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(isOfPage).map((name) => join(folder, name));
  return paths.flatMap((path) => made(new Source(path)).map(({ text }) => ({ path, text }))).filter(({ text }) => text !== '');
}

/** The texts of all operations of a folder by their ids. */
export function manifest(folder: string): string {
  const texts = operationsOf(folder).map(({ text }) => text);
  return JSON.stringify(Object.fromEntries([...new Set(texts)].sort().map((text) => [sha256(text), text])));
}

/** Replaces the operations of the page by their ids, and writes the manifest of them. */
export function operations(folder: string): Plugin {
  let address: string;
  return {
    name: 'operations',
    enforce: 'pre',
    config: () => {
      address = `assets/operations-${sha256(manifest(folder)).slice(0, 8)}.json`;
      return { define: { 'import.meta.env.OPERATIONS': JSON.stringify(`/${address}`) } };
    },
    configureServer: ({ middlewares }) => void middlewares.use(`/${address}`, (_, response) => response.end(manifest(folder))),
    generateBundle() {
      this.emitFile({ type: 'asset', fileName: address, source: manifest(folder) });
    },
    transform(code, id) {
      const path = id.split('?')[0]!;
      if (relative(folder, path).startsWith('..') || !isOfPage(path)) return null;
      let changed = code;
      for (const { start, end, text } of made(new Source(path, code)).reverse()) changed = changed.slice(0, start) + (text === '' ? 'null' : JSON.stringify(sha256(text))) + changed.slice(end);
      return changed === code ? null : { code: changed, map: null };
    },
  };
}
