// Two generated clients call every operation of openapi.json: the programs are
// in testdata/openapi, the operations that they must call in the document. Postman
// makes requests of its examples.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { base, token } from './browser.js';
import { accessKey, modules, shell } from './programs.js';

const here = dirname(fileURLToPath(import.meta.url));

const clients = {
  'openapi-typescript and openapi-fetch': `
    npx openapi-typescript openapi.json --output simgraph.d.ts >&2
    npx tsc --strict --module nodenext --target es2022 --skipLibCheck calls.mts >&2
    node calls.mjs`,
  'oapi-codegen': `
    go mod init example.com/calls
    go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.0 -generate types,client -package main -o simgraph.go openapi.json
    go mod tidy
    go run .`,
};

describe('every operation of openapi.json', () => {
  let contract, key;

  before(async () => {
    contract = await (await fetch(`${base}/openapi.json`)).json();
    key = await accessKey();
  });

  const each = (visit) => Object.entries(contract.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => visit(operation, method, path)));

  for (const [name, script] of Object.entries(clients)) {
    test(`is called by ${name}`, { timeout: 600_000 }, async (t) => {
      const folder = await mkdtemp(join(tmpdir(), 'simgraph-openapi-'));
      t.after(() => rm(folder, { recursive: true, force: true }));
      await cp(join(here, 'testdata/openapi'), folder, { recursive: true });
      await symlink(modules, join(folder, 'node_modules'));
      await writeFile(join(folder, 'package.json'), '{"type":"module"}\n');
      await writeFile(join(folder, 'openapi.json'), JSON.stringify(contract));
      const { stdout } = await shell(folder, script, key);
      // Records of a source come from its sender, with the secret of the source.
      const ours = each(({ operationId, security, responses }) => security.some((one) => 'sourceBasic' in one) ? [] : [`${operationId} ${responses[200] ? 200 : 204}`]);
      const documented = ours.flat();
      assert.deepEqual(stdout.trim().split('\n').sort(), documented.sort());
    });
  }

  test('becomes a collection of Postman, whose requests have the examples', { timeout: 120_000 }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'simgraph-postman-'));
    t.after(() => rm(folder, { recursive: true, force: true }));
    await symlink(modules, join(folder, 'node_modules'));
    await writeFile(join(folder, 'openapi.json'), JSON.stringify(contract));
    await shell(folder, 'npx openapi2postmanv2 -s openapi.json -o collection.json -O parametersResolution=Example >&2', key);
    const requests = requestsOf(JSON.parse(await readFile(join(folder, 'collection.json'), 'utf8')));
    assert.equal(requests.size, each(() => 1).length);
    each((operation, method, path) => {
      const request = requests.get(`${method.toUpperCase()} ${path}`);
      assert.ok(request, `${method} ${path}`);
      for (const { in: place, name, example } of operation.parameters ?? []) {
        const values = (place === 'path' ? request.url.variable : request.url.query).filter(({ key }) => key === name).map(({ value }) => value);
        assert.deepEqual(values, [example].flat().map(String), `${operation.operationId}: ${name}`);
      }
      const [[type, { example, schema } = {}] = []] = Object.entries(operation.requestBody?.content ?? {});
      const fields = type === 'application/x-www-form-urlencoded' && Object.fromEntries(Object.entries(schema.properties).map(([name, field]) => [name, field.example]));
      if (type) assert.deepEqual(bodyOf(request), fields || example, operation.operationId);
    });
    for (const { method, url } of requests.values()) {
      if (method !== 'GET' || url.variable.length > 0) continue;
      const query = new URLSearchParams(url.query.map(({ key: name, value }) => [name, value]));
      const answer = await fetch(`${base}/${url.path.join('/')}?${query}`, { headers: { authorization: `Bearer ${token}` } });
      assert.equal(answer.status, 200, `${answer.url}: ${await answer.text()}`);
    }
  });

  test('says how a token is got, and which permissions it must have', () => {
    const { flows } = contract.components.securitySchemes.oauth;
    assert.equal(contract.paths[flows.clientCredentials.tokenUrl].post.operationId, 'exchangeKey');
    const scopes = Object.keys(flows.clientCredentials.scopes);
    each(({ operationId, security }) => {
      assert.ok(security.length > 0, operationId);
      for (const { oauth = [] } of security) for (const scope of oauth) assert.ok(scopes.includes(scope), `${operationId}: ${scope}`);
    });
  });
});

/** The requests of a collection, by method and path as the document writes them. */
function requestsOf({ item: items }) {
  const flat = (all) => all.flatMap(({ item, request }) => (item ? flat(item) : [request]));
  return new Map(flat(items).map((request) => [`${request.method} /${request.url.path.map((part) => part.replace(/^:(.*)$/, '{$1}')).join('/')}`, request]));
}

/** The body of a request: a form or JSON as its value, other text as it is. */
function bodyOf({ body: { mode, raw, urlencoded } }) {
  if (mode === 'urlencoded') return Object.fromEntries(urlencoded.map(({ key, value }) => [key, value]));
  return raw.startsWith('{') ? JSON.parse(raw) : raw;
}
