// What GraphQL Inspector calls a break since the last release is what "simgraph
// schema --diff" calls one; a test in Go fails for those that CHANGELOG.md does
// not name.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { CriticalityLevel, diff } from '@graphql-inspector/core';
import { buildSchema } from 'graphql';
import { root } from './programs.js';

const released = join(root, 'internal/command/testdata/released.graphql');

/** The coordinates of breaks by GraphQL Inspector, which writes an argument as another part of the path. */
async function inspected(before, after) {
  const changes = await diff(buildSchema(before), buildSchema(after));
  return changes.filter(({ criticality }) => criticality.level === CriticalityLevel.Breaking).map(({ path }) => path);
}

/** The coordinates of breaks by simgraph: it exits with 1 where there are some. */
function reported(file) {
  return new Promise((resolve, reject) => execFile(join(root, 'simgraph'), ['schema', '--diff', file], (error, stdout, stderr) => {
    if (error && error.code !== 1) return reject(new Error(stderr));
    resolve([...stdout.matchAll(/^breaking: (\S+) /gm)].map(([, at]) => at.replace(/\((\w+):\)/, '.$1')));
  }));
}

test('GraphQL Inspector finds the breaks that simgraph reports', async () => {
  const [before, after] = await Promise.all([released, join(root, 'docs/schema.graphql')].map((file) => readFile(file, 'utf8')));
  assert.deepEqual((await inspected(before, after)).sort(), (await reported(released)).sort());
});

test('and finds breaks of every kind', async () => {
  const schema = (type) => `type Query { a(x: Int${type === 'argument' ? '!' : ''}): ${type === 'field' ? 'String' : 'String!'} ${type === 'removed' ? '' : 'b: Int'} }`;
  for (const [kind, path] of [['argument', 'Query.a.x'], ['field', 'Query.a'], ['removed', 'Query.b']]) {
    assert.deepEqual(await inspected(schema(), schema(kind)), [path]);
  }
});
