// What the page does while the server is away, after the session has ended, and under
// a new release: nothing typed is lost, and everything goes on by itself.
import assert from 'node:assert/strict';
import { createServer, connect } from 'node:net';
import { after, before } from 'node:test';
import { base, graph, textOf } from './browser.js';
import { accessible, eventually, pageTests, subscribers } from './tab.js';

const inTab = pageTests();

/** A way to the server that can be cut, and counts WebSockets. */
function createWay() {
  const open = new Set();
  let cut = false;
  let sockets = 0;
  const { hostname, port } = new URL(base);
  const server = createServer((client) => {
    if (cut) return client.destroy();
    const behind = connect(Number(port), hostname);
    for (const socket of [client, behind]) {
      open.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        open.delete(socket);
        client.destroy();
        behind.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (bytes.includes('Upgrade: websocket')) sockets++;
    });
    client.pipe(behind).pipe(client);
  });
  return {
    listen: () => new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}`))),
    cut: () => {
      cut = true;
      open.forEach((socket) => socket.destroy());
    },
    mend: () => {
      cut = false;
    },
    sockets: () => sockets,
    close: () => {
      open.forEach((socket) => socket.destroy());
      server.close();
    },
  };
}

let way;
let address;
before(async () => {
  way = createWay();
  address = await way.listen();
});
after(() => way.close());

/** The headers that a browser sends for the page. */
const page = () => ({ origin: address, 'sec-fetch-site': 'same-origin' });

/** Opens the page by the way, signed in to the demo company. */
async function open(tab, place) {
  way.mend();
  const request = tab.context().request;
  const { access_token: token } = await (await request.post(`${address}/demo-token`, { headers: page() })).json();
  assert.ok((await request.post(`${address}/session`, { data: { token }, headers: page() })).ok());
  await tab.goto(`${address}/${place}`);
  await tab.locator('.account-button').waitFor();
}

const unreachable = [/net::ERR_/, /WebSocket connection/, /foreign: /, /could not be loaded|cannot be reached/];

inTab('after an outage everything shown is read again, and events go on', async (tab) => {
  const [{ physicalId }] = await subscribers(1);
  await open(tab, `#/subscribers/${physicalId}`);
  await tab.getByRole('heading', { level: 1 }).waitFor();
  way.cut();
  await tab.getByRole('link', { name: 'Groups', exact: true }).click();
  await tab.getByText('No connection to the server.').waitFor();
  await graph('mutation($id: String!) { attachTag(input: {physicalIds: [$id], tagName: "outage"}) { __typename } }', { id: physicalId });
  way.mend();
  await tab.getByText('No connection to the server.').waitFor({ state: 'detached', timeout: 15_000 });
  await tab.getByRole('button', { name: 'Try again' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
  await tab.goBack();
  await tab.getByText('outage').first().waitFor();
  await graph('mutation($id: String!) { detachTag(input: {physicalIds: [$id], tagName: "outage"}) { __typename } }', { id: physicalId });
}, { expected: unreachable });

inTab('live events come again by themselves after an outage', async (tab) => {
  await open(tab, '#/');
  await tab.locator('.live').waitFor();
  way.cut();
  await tab.locator('.live').waitFor({ state: 'detached' });
  way.mend();
  await tab.locator('.live').waitFor({ timeout: 30_000 });
}, { expected: unreachable });

inTab('what was typed is still there when a session ends and its person signs in again', async (tab) => {
  await open(tab, '#/alerts/new');
  const field = tab.locator('main input:not([type=radio])').first();
  await field.fill('8944');
  await tab.context().request.delete(`${address}/session`, { headers: page() });
  await tab.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
  const dialog = tab.getByRole('dialog', { name: 'The session has ended' });
  await dialog.getByRole('button', { name: 'Open the demo company' }).click();
  await dialog.waitFor({ state: 'detached' });
  await eventually(() => field.inputValue(), '8944');
}, { expected: [...unreachable, /401/] });

inTab('windows share one connection for events, and a sixth still loads', async (tab) => {
  const before = way.sockets();
  await open(tab, '#/');
  await tab.locator('.live').waitFor();
  for (let i = 0; i < 5; i++) {
    const other = await tab.context().newPage();
    await other.goto(`${address}/#/`);
    await other.locator('.live').waitFor();
  }
  assert.equal(way.sockets() - before, 1);
}, { expected: unreachable });

inTab('a part of another release is recognised, and its page can be loaded', async (tab) => {
  await open(tab, '#/');
  await tab.route(/assets\/Groups-/, (route) => route.fulfill({ status: 404, body: '' }));
  await tab.route(`${address}/`, (route) => route.fulfill({ contentType: 'text/html', body: '<script type="module" src="/assets/index-other.js"></script>' }));
  await tab.getByRole('link', { name: 'Groups', exact: true }).click();
  await tab.getByText('The server runs another release than this page.').waitFor();
  await tab.unrouteAll();
  await tab.getByRole('button', { name: 'Load the new release' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
}, { expected: [...unreachable, /404/, /another release/] });

inTab('a part that could not be loaded is loaded by "Try again", and the document stays', async (tab) => {
  await open(tab, '#/');
  await tab.evaluate(() => { window.isFirst = true; });
  await tab.route(/assets\/Groups-.*js/, (route) => route.fulfill({ status: 503, body: '' }));
  await tab.getByRole('link', { name: 'Groups', exact: true }).click();
  await tab.getByText('This part of the page could not be loaded.').waitFor();
  await tab.unrouteAll();
  await tab.getByRole('button', { name: 'Try again' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
  await eventually(() => tab.evaluate(() => window.isFirst), true, 'the document was loaded again');
}, { expected: [...unreachable, /503/, /could not be loaded/] });

inTab('where a part could not be loaded, the page can be loaded again', async (tab) => {
  await open(tab, '#/');
  await tab.route(/assets\/Groups-.*js/, (route) => route.fulfill({ status: 503, body: '' }));
  await tab.getByRole('link', { name: 'Groups', exact: true }).click();
  await tab.getByText('This part of the page could not be loaded.').waitFor();
  await accessible(tab, 'a part that could not be loaded');
  await tab.unrouteAll();
  await tab.getByRole('button', { name: 'Load the page again' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();
}, { expected: [...unreachable, /503/, /could not be loaded/] });

inTab('an answer from before a change is not shown after it', async (tab) => {
  const { subscribers: { nodes: [{ physicalId }] } } = await graph('{ subscribers(first: 1, filter: {isBarred: {eq: false}}) { nodes { physicalId } } }');
  const counts = [];
  let release;
  await tab.route('**/graphql', async (route) => {
    if (!textOf(route.request()).includes('query Fleet ')) return route.fallback();
    const response = await route.fetch();
    counts.push((await response.json()).data.company.fleet.barred);
    if (counts.length === 1) await new Promise((resolve) => { release = resolve; });
    await route.fulfill({ response }).catch(() => undefined); // the page no longer waits for the first
  });
  await open(tab, '#/');
  await eventually(() => counts.length, 1);
  await graph('mutation($id: String!) { barSubscriber(input: {physicalId: $id}) { __typename } }', { id: physicalId });
  await eventually(() => counts.length, 2);
  release();
  await tab.locator('.tile.barred').getByText(String(counts[0] + 1), { exact: true }).waitFor();
  await graph('mutation($id: String!) { unbarSubscriber(input: {physicalId: $id}) { __typename } }', { id: physicalId });
}, { expected: unreachable });
