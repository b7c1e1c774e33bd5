// Pages of other origins in a browser that is signed in: another port of the same
// host, to which browsers send the cookie of the session, and another site.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before } from 'node:test';
import { base, enter, graph } from './browser.js';
import { pageTests } from './tab.js';

const inTab = pageTests();

let server;
before(async () => {
  server = createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Free SIM cards</title>'));
  await new Promise((resolve) => server.listen(0, resolve));
});
after(() => server.close());

const keys = async () => (await graph('{ accessKeys(first: 1) { totalCount } }')).accessKeys.totalCount;

/** What a page tries with the session of whoever looks at it. It returns what it could read. */
async function attack({ base, email }) {
  const mutation = `mutation { createAccessKey(input: {userEmail: ${JSON.stringify(email)}, scope: {all: true}, lifetimeDays: 1}) { secret } }`;
  const body = JSON.stringify({ query: mutation });
  const tried = async (run) => run().then((value) => value, () => 'failed');
  const read = [];
  for (const [method, type] of [['POST', 'text/plain'], ['POST', 'application/x-www-form-urlencoded'], ['POST', 'application/json'], ['POST', 'application/graphql']]) {
    const init = { method, credentials: 'include', headers: { 'Content-Type': type }, body };
    read.push(await tried(async () => (await fetch(`${base}/graphql`, init)).text()));
    read.push(await tried(async () => (await fetch(`${base}/graphql`, { ...init, mode: 'no-cors' })).type === 'opaque' ? 'opaque' : 'readable'));
  }
  for (const query of [mutation, '{ viewer { email } }', 'subscription { alertTriggered { target } }']) {
    read.push(await tried(async () => (await fetch(`${base}/graphql?query=${encodeURIComponent(query)}`, { credentials: 'include' })).text()));
    read.push(await tried(() => new Promise((resolve, reject) => {
      const stream = new EventSource(`${base}/graphql?query=${encodeURIComponent(query)}`, { withCredentials: true });
      stream.onmessage = stream.onopen = () => resolve('a stream');
      stream.onerror = () => (stream.close(), reject(new Error('refused')));
    })));
  }
  read.push(await tried(() => new Promise((resolve, reject) => {
    const socket = new WebSocket(`${base.replace('http', 'ws')}/graphql`, 'graphql-transport-ws');
    socket.onopen = () => resolve('a socket');
    socket.onerror = () => reject(new Error('refused'));
  })));
  for (const [method, path] of [['DELETE', '/session'], ['POST', '/session'], ['GET', '/session'], ['POST', '/demo-token'], ['GET', '/subscribers']]) {
    read.push(await tried(async () => (await fetch(base + path, { method, credentials: 'include' })).text()));
    if (method !== 'DELETE') await tried(() => fetch(base + path, { method, credentials: 'include', mode: 'no-cors' }));
  }
  const form = document.createElement('form');
  Object.assign(form, { method: 'POST', action: `${base}/session`, enctype: 'text/plain', target: 'frame' });
  form.innerHTML = '<input name=\'{"token":"sgt_1_x","a":"\' value=\'"}\'>';
  document.body.append(Object.assign(document.createElement('iframe'), { name: 'frame' }), form);
  form.submit();
  return read.filter((one) => !['failed', 'opaque'].includes(one));
}

for (const [name, host] of [['another port', '127.0.0.1'], ['another site', 'localhost']]) {
  inTab(`a page of ${name} can do and read nothing with the session`, async (tab) => {
    await enter(tab);
    const { viewer: { email } } = await graph('{ viewer { email } }');
    const before = await keys();
    const other = await tab.context().newPage();
    await other.goto(`http://${host}:${server.address().port}/`);
    assert.deepEqual(await other.evaluate(attack, { base, email }), []);
    assert.equal(await keys(), before);
    await tab.reload();
    await tab.locator('.account-button').waitFor();
  });
}
