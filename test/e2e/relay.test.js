// Relay's compiler reads a document for every connection of the committed
// schema, forwards and backwards, and the server answers what it compiled.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { buildSchema, getNamedType, isObjectType } from 'graphql';
import { modules, root } from './programs.js';
import { post } from './server.js';

const schemaFile = join(root, 'docs/schema.graphql');
const connections = connectionsOf(buildSchema(await readFile(schemaFile, 'utf8')));

/** The fields of the schema that are connections, and whether the object above them is a Node. */
function connectionsOf(schema) {
  return Object.values(schema.getTypeMap()).filter((type) => isObjectType(type) && !type.name.startsWith('__')).flatMap((type) =>
    Object.values(type.getFields()).filter((field) => getNamedType(field.type).name.endsWith('Connection')).map((field) => ({
      owner: type.name, field: field.name, refetchable: type === schema.getQueryType() || type.getInterfaces().some(({ name }) => name === 'Node'),
      name: `${type.name}_${field.name}`,
    })));
}

/** A fragment that pages the connection in one direction; Relay writes the query that reads it again. */
function fragmentOf({ owner, field, refetchable, name }, [size, cursor, direction]) {
  assert.ok(refetchable, `${owner}, which has the connection ${field}, is no Node: Relay cannot read its next page`);
  return `fragment ${name}${direction} on ${owner}
    @argumentDefinitions(size: { type: "Int", defaultValue: 1 }, cursor: { type: "String" })
    @refetchable(queryName: "${name}${direction}Query") {
      ${field}(${size}: $size, ${cursor}: $cursor) @connection(key: "${name}${direction}_${field}") { edges { node { __typename } } }
    }`;
}

test('the page "Clients" pages every connection in Apollo Client and in urql', async () => {
  const sections = (await readFile(join(root, 'docs/clients.md'), 'utf8')).split(/^## /m);
  for (const title of ['Apollo Client', 'urql with Graphcache']) {
    const section = sections.find((text) => text.startsWith(title));
    for (const { owner, field } of connections) {
      assert.match(section, new RegExp(`\\b${owner}: \\{(\\s*fields: \\{)?[^{}]*\\b${field}: list\\b`), `${title}: ${owner}.${field}`);
    }
  }
});

const directions = [['first', 'after', 'Forwards'], ['last', 'before', 'Backwards']];

describe('every connection of the schema in Relay', () => {
  let folder;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'simgraph-relay-'));
    await symlink(modules, join(folder, 'node_modules'));
    await writeFile(join(folder, 'package.json'), '{"type":"module"}\n');
    await writeFile(join(folder, 'relay.config.json'), JSON.stringify({ src: './src', schema: schemaFile, language: 'javascript', eagerEsModules: true }));
    await mkdir(join(folder, 'src'));
    for (const connection of connections) {
      const documents = directions.map((direction, i) => `export const d${i} = graphql\`${fragmentOf(connection, direction)}\`;`);
      // A document belongs to the module that its name begins with.
      await writeFile(join(folder, `src/${connection.name}.js`), ["import { graphql } from 'relay-runtime';", ...documents].join('\n'));
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('the schema has connections', () => assert.ok(connections.length >= 13, connections.map(({ name }) => name).join(' ')));

  test('relay-compiler compiles a document for each, and the server answers it', async () => {
    const compiler = createRequire(join(modules, 'relay-compiler/'))('relay-compiler');
    await promisify(execFile)(compiler, [], { cwd: folder }).catch(({ stdout, stderr }) => assert.fail(stdout + stderr));
    const ids = await idsOf(new Set(connections.map(({ owner }) => owner)));
    for (const { name, owner, field } of connections) {
      for (const [, , direction] of directions) {
        const { default: artifact } = await import(join(folder, `src/__generated__/${name}${direction}Query.graphql.js`));
        const response = await post({ query: artifact.params.text, variables: { size: 1, id: ids[owner] } });
        const { data, errors } = await response.json();
        assert.equal(errors, undefined, `${name}: ${JSON.stringify(errors)}`);
        // Relay reads a fragment on Viewer again by the root viewer, others by node.
        const { edges, pageInfo } = (owner === 'Query' ? data : data.node ?? data[owner.toLowerCase()])[field];
        assert.ok(Array.isArray(edges) && pageInfo, `${name}: ${JSON.stringify(data)}`);
      }
    }
  });
});

/** The id of an object of each type, which its list begins with. */
async function idsOf(types) {
  const lists = { Group: 'groups', Tag: 'tags', Subscriber: 'subscribers', User: 'users', Operation: 'operations' };
  const ids = {};
  const tried = 'mutation { startSubscriberChange(input: { all: true, change: { isBarred: true }, validateOnly: true }) { operation { id } } }';
  assert.equal((await (await post({ query: tried })).json()).errors, undefined);
  for (const type of types) {
    if (type === 'Query') continue;
    const query = lists[type] ? `{ of: ${lists[type]}(first: 1) { nodes { id } } }` : `{ of: ${type.toLowerCase()} { id } }`;
    const { data, errors } = await (await post({ query })).json();
    assert.equal(errors, undefined, `an id of ${type}: ${JSON.stringify(errors)}`);
    ids[type] = data.of.id ?? data.of.nodes[0].id;
  }
  return ids;
}
