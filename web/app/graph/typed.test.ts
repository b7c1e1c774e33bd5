import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

/** A question asks of four kinds of subjects in ten spans, in the words of a few constants. */
const untyped = ['usage/ask.ts'];

const isOperation = (text: string) => /^\s*(query|mutation|subscription|fragment)\s+[A-Z]\w*\s*(\(|\{|on\s)/.test(text);

/** The texts of operations in a module that are not the argument of graphql. */
function untypedIn(path: string): string[] {
  const found: string[] = [];
  const look = (node: ts.Node) => {
    const text = ts.isStringLiteralLike(node) ? node.text : ts.isTemplateExpression(node) ? node.head.text : '';
    const { parent } = node;
    const isTyped = parent && ts.isCallExpression(parent) && ts.isIdentifier(parent.expression) && parent.expression.text === 'graphql';
    if (isOperation(text) && !isTyped) found.push(text.trim().slice(0, 60));
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.ES2022, true, path.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS));
  return found;
}

test('the operations of the page are typed by the schema', () => {
  const paths = readdirSync('app', { recursive: true, encoding: 'utf8' }).filter((path) => /\.tsx?$/.test(path) && !/\.(test|d)\.ts$/.test(path) && !path.startsWith('explore/'));
  const found = paths.flatMap((path) => untypedIn(join('app', path)).map((text) => ({ path, text })));
  expect(found.filter(({ path }) => !untyped.includes(path))).toEqual([]);
  expect(new Set(found.map(({ path }) => path))).toEqual(new Set(untyped));
}, 60_000);
