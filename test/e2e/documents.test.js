// An app of Apollo Client, with the documents that graphql-codegen wrote of its
// sources, holds a key that runs trusted documents alone. Nothing else gets an
// answer through this key.
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { createClient as createSSE } from 'graphql-sse';
import { createClient as createWS } from 'graphql-ws';
import { WebSocket } from 'ws';
import { graph } from './browser.js';
import { modules, shell } from './programs.js';
import { socketURL, url } from './server.js';

const files = {
  'codegen.ts': `
import type { CodegenConfig } from '@graphql-codegen/cli';
import { addTypenameSelectionDocumentTransform } from '@graphql-codegen/client-preset';

const config: CodegenConfig = {
  schema: 'schema.graphql',
  documents: 'src/app.ts',
  generates: {
    'src/gql/': {
      preset: 'client',
      presetConfig: { persistedDocuments: { hashAlgorithm: 'sha256' } },
      documentTransforms: [addTypenameSelectionDocumentTransform],
    },
  },
  config: { strictScalars: true, scalars: { BigInt: 'string', DateTime: 'string', UsageMap: 'Record<string, unknown>' }, useTypeImports: true },
};
export default config;
`,
  'src/app.ts': `
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { graphql } from './gql';

declare const process: { env: Record<string, string> };

const fleet = graphql(\`query Fleet($first: Int!) { company { name } subscribers(first: $first) { nodes { id physicalId } } }\`);
const makeKey = graphql(\`mutation MakeKey($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { accessKey { accessKeyId isDocumentsOnly } } }\`);
const generateHash: (document: unknown) => string = (document) => (document as { __meta__: { hash: string } }).__meta__.hash;

const { SIMGRAPH, LIMITED_TOKEN, EMAIL } = process.env;
const sent: string[] = [];
const http = new HttpLink({
  uri: SIMGRAPH + '/graphql',
  headers: { authorization: 'Bearer ' + LIMITED_TOKEN },
  fetch: (input, init) => {
    sent.push(String(init!.body));
    return fetch(input, init);
  },
});
const client = new ApolloClient({ cache: new InMemoryCache(), link: new PersistedQueryLink({ generateHash }).concat(http) });

async function run() {
  const { data } = await client.query({ query: fleet, variables: { first: 2 } });
  const made = await client.mutate({ mutation: makeKey, variables: { input: { userEmail: EMAIL!, scope: { all: true }, isDocumentsOnly: false } } }).then(({ data }) => data!.createAccessKey!.accessKey);
  console.log(JSON.stringify({ data, made, sent }));
}
void run();
`,
};

const revoke = (id) => graph('mutation($id: String!) { revokeAccessKey(input: { accessKeyId: $id }) { accessKey { accessKeyId } } }', { id });

let folder;
let limited;
let accessKeyId;
let email;
let texts;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simgraph-documents-'));
  await symlink(modules, join(folder, 'node_modules'));
  await mkdir(join(folder, 'src'));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  await shell(folder, 'simgraph schema > schema.graphql; npx graphql-codegen --config codegen.ts; simgraph documents add src/gql/persisted-documents.json');
  texts = Object.entries(JSON.parse(await readFile(join(folder, 'src/gql/persisted-documents.json'), 'utf8')));
  ({ viewer: { email } } = await graph('{ viewer { email } }'));
  const input = { userEmail: email, scope: { all: true }, lifetimeDays: 1, isDocumentsOnly: true };
  const { createAccessKey } = await graph('mutation($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }', { input });
  ({ accessKeyId } = createAccessKey.accessKey);
  const answer = await fetch(`${process.env.SIMGRAPH_BASE}/oauth/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials', client_id: accessKeyId, client_secret: createAccessKey.secret }) });
  limited = (await answer.json()).access_token;
});

after(async () => {
  if (accessKeyId) await revoke(accessKeyId);
  if (texts) await shell(folder, `simgraph documents remove ${texts.map(([id]) => id).join(' ')}`);
  await rm(folder, { recursive: true, force: true });
});

test('an app of Apollo Client and graphql-codegen sends ids alone, and makes no key without the limit', { timeout: 120_000 }, async () => {
  const { stdout } = await shell(folder, 'npx tsc --strict --module node16 --target es2022 --lib es2022,dom --skipLibCheck --outDir out src/app.ts; node out/app.js', { LIMITED_TOKEN: limited, EMAIL: email });
  const { data, made, sent } = JSON.parse(stdout.trim().split('\n').at(-1));
  assert.deepEqual(data.subscribers.nodes.map(({ __typename }) => __typename), ['Subscriber', 'Subscriber']);
  await revoke(made.accessKeyId);
  assert.equal(made.isDocumentsOnly, true);
  assert.equal(sent.length, 2);
  for (const body of sent) assert.equal(JSON.parse(body).query, undefined);
});

const request = (init, query = '') => fetch(url + query, { ...init, headers: { authorization: `Bearer ${limited}`, 'content-type': 'application/json', ...init.headers } });
const posted = (body) => request({ method: 'POST', body: JSON.stringify(body) });
const free = '{ company { name } }';

const hostile = {
  'a text': () => posted({ query: free }),
  'the text of a trusted document': () => posted({ query: texts[0][1], variables: { first: 1 } }),
  'a text beside an id': () => posted({ documentId: texts[0][0], query: free }),
  'a text with the hash of a trusted document': () => posted({ query: free, extensions: { persistedQuery: { version: 1, sha256Hash: texts[0][0] } } }),
  'introspection': () => posted({ query: '{ __schema { types { name } } }' }),
  'a batch': () => posted([{ query: free }, { query: free }]),
  'a text by GET': () => request({}, `?${new URLSearchParams({ query: free })}`),
  'an id that nobody added': () => posted({ documentId: `sha256:${'0'.repeat(64)}` }),
  'an id that is no hash': () => posted({ documentId: `${texts[0][0]}' OR ''='` }),
  'a text as a form': () => request({ method: 'POST', body: new URLSearchParams({ query: free }).toString(), headers: { 'content-type': 'application/x-www-form-urlencoded' } }),
};

for (const [name, send] of Object.entries(hostile)) {
  test(`${name} gets nothing`, async () => {
    const answer = await (await send()).json();
    assert.equal(answer.data ?? null, null);
    assert.ok(JSON.stringify(answer).includes('code'), JSON.stringify(answer));
    assert.doesNotMatch(JSON.stringify(answer), /Northline/);
  });
}

const live = 'subscription { usageRecorded { bytes } }';
const authorization = () => `Bearer ${limited}`;
const streams = {
  'a WebSocket': () => createWS({ url: socketURL, webSocketImpl: WebSocket, connectionParams: () => ({ authorization: authorization() }), retryAttempts: 0 }),
  'server-sent events': () => createSSE({ url, headers: () => ({ authorization: authorization() }), retryAttempts: 0 }),
};

for (const [name, connect] of Object.entries(streams)) {
  test(`a text over ${name} gets nothing`, { timeout: 20_000 }, async () => {
    const client = connect();
    const ended = await client.iterate({ query: live }).next().then(({ value }) => value, (error) => error);
    assert.match(JSON.stringify(ended, ['0', 'errors', 'extensions', 'code', 'message']) ?? '', /DOCUMENT_REQUIRED|trusted documents/);
    client.dispose();
  });
}
