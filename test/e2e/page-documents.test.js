// An instance that runs trusted documents alone serves the whole page, REST and tools for
// agents; texts get nothing. And the page goes on where a server does not know its documents.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, test } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const [elsewhere, other] = [process.env.SIMGRAPH_BASE, `Bearer ${process.env.SIMGRAPH_TOKEN}`];
const folder = await mkdtemp(join(tmpdir(), 'simgraph-limited-'));
await chmod(folder, 0o755); // PostgreSQL may run as another user
const server = spawn(join(import.meta.dirname, '../../simgraph'), ['serve', '--documents-only', '--demo', '--demo-feed', 'off', '--addr', '127.0.0.1:0', '--data-dir', folder], { stdio: ['ignore', 'pipe', 'ignore'] });
const ended = once(server, 'exit');
after(async () => {
  server.kill();
  await ended;
  await rm(folder, { recursive: true, force: true });
});
for await (const line of createInterface(server.stdout)) {
  const [, token, base] = line.match(/Bearer ([^']*)' '(http:\/\/[0-9.:]*)/) ?? [];
  if (!token) continue;
  Object.assign(process.env, { SIMGRAPH_BASE: base, SIMGRAPH_TOKEN: token });
  break;
}
server.stdout.resume();
const { base, enter, textOf, token } = await import('./browser.js');
const { accessible, eventually, pageTests } = await import('./tab.js');
const inTab = pageTests();

const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const rest = async (path, init) => (await fetch(base + path, { ...init, headers })).json();
const posted = (body) => fetch(`${base}/graphql`, { method: 'POST', headers, body: JSON.stringify(body) });
const [{ physicalId }] = (await rest('/subscribers?limit=1')).content;

inTab('people sign in to an instance of documents alone, list subscribers and rename one', async (tab) => {
  await tab.goto(base);
  await tab.getByRole('button', { name: 'Open the demo company' }).click();
  await tab.locator('.tile').first().waitFor();
  await tab.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Subscribers', exact: true }).click();
  await tab.locator('tr[aria-rowindex="2"]').waitFor();
  await tab.goto(`${base}/#/subscribers/${physicalId}`);
  await tab.getByRole('button', { name: 'Edit the nickname' }).click();
  await tab.getByRole('textbox', { name: 'Nickname' }).fill('Documents alone');
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { level: 1, name: 'Documents alone' }).waitFor();
});

inTab('what REST changes is shown live', async (tab) => {
  await enter(tab);
  await tab.locator('.live').waitFor();
  await tab.locator('.tile.barred strong[title]').waitFor();
  await tab.waitForTimeout(3_000); // what a new connection reads again is read
  const again = tab.waitForRequest((request) => textOf(request).includes('query Fleet '), { timeout: 20_000 });
  await rest(`/subscribers/${physicalId}`, { method: 'PATCH', body: JSON.stringify({ nickname: 'By REST' }) });
  await again;
});

inTab('a question about usage is answered, and every place opens without a text', async (tab) => {
  const texts = [];
  tab.on('request', (request) => request.url().endsWith('/graphql') && request.postDataJSON()?.query && texts.push(request.postData()));
  await enter(tab, '#/usage?span=LAST_30_DAYS&chart=STACKED&split=GROUP');
  await tab.getByRole('region', { name: 'Answer' }).locator('.plot').waitFor();
  for (const link of await tab.locator('nav a[href^="/#/"], nav a[href^="#/"]').evaluateAll((links) => links.map(({ hash }) => hash))) {
    await tab.goto(`${base}/${link}`);
    await tab.locator('main h1').first().waitFor({ state: 'attached' });
    await tab.locator('main [aria-busy=true], main .waiting, main .loading').first().waitFor({ state: 'detached' });
    await eventually(() => tab.locator('main .failure').count(), 0, link);
  }
  assert.deepEqual(texts, []);
});

inTab('Explore says that the instance takes no texts', async (tab) => {
  await enter(tab, '#/explore');
  await tab.getByText('This instance runs stored documents only', { exact: false }).waitFor();
  await accessible(tab, 'Explore without an editor');
});

test('tools for agents stay open', async () => {
  const client = new Client({ name: 'e2e-documents', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers } }));
  const { isError, structuredContent } = await client.callTool({ name: 'find_subscribers', arguments: { physicalId: { eq: physicalId } } });
  assert.deepEqual([isError ?? false, JSON.stringify(structuredContent).includes(physicalId)], [false, true]);
  await client.close();
});

const free = '{ company { name } }';
const hostile = {
  'a text': { query: free },
  'introspection': { query: '{ __schema { types { name } } }' },
  'a mutation': { query: 'mutation($id: String!) { barSubscriber(input: {physicalId: $id}) { __typename } }', variables: { id: physicalId } },
  'a text with a hash': { query: free, extensions: { persistedQuery: { version: 1, sha256Hash: '0'.repeat(64) } } },
};
for (const [name, body] of Object.entries(hostile)) {
  test(`${name} gets nothing`, async () => {
    const { data, errors } = await (await posted(body)).json();
    assert.deepEqual([data ?? null, errors[0].extensions.code], [null, 'DOCUMENT_REQUIRED']);
  });
}

// An upgrade, as the page meets it: the server knows none of its documents.
const unknown = (route) => route.fulfill({ contentType: 'application/json', body: JSON.stringify({ errors: [{ message: 'unknown', extensions: { code: 'DOCUMENT_NOT_FOUND' } }] }) });

inTab('where a server of another release takes no texts, the page says so and loads anew', async (tab) => {
  await enter(tab);
  await tab.route('**/graphql', (route) => (textOf(route.request()).includes('query SubscriberList') ? unknown(route) : route.fallback()));
  await tab.goto(`${base}/#/subscribers`);
  await tab.getByText('The server runs another release than this page.').waitFor();
  await tab.unroute('**/graphql');
  await tab.getByRole('button', { name: 'Load the new release' }).click();
  await tab.locator('tr[aria-rowindex="2"]').waitFor();
}, { expected: [/400/] });

inTab('where it takes texts, the page sends them', async (tab) => {
  let sent = 0;
  await tab.route('**/graphql', async (route) => {
    const body = route.request().postDataJSON();
    if (body.documentId) return unknown(route);
    sent++;
    const response = await fetch(`${elsewhere}/graphql`, { method: 'POST', headers: { authorization: other, 'content-type': 'application/json' }, body: route.request().postData() });
    return route.fulfill({ contentType: 'application/json', body: await response.text() });
  });
  await enter(tab, '#/subscribers');
  await tab.locator('tr[aria-rowindex="2"]').waitFor();
  assert.ok(sent > 0);
});
