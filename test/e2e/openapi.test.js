// Two generated clients call every operation of openapi.json: the programs are
// in testdata/openapi, the operations that they must call in the document.
import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { base } from './browser.js';
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
