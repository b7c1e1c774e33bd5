// A real browser on the page of the server under test. Whatever is wrong with
// the page beside what a test checks is noted: errors on the console, failed
// requests, requests to anybody else.
import { readdirSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

export { launch } from './launch.js';

export const base = process.env.SIMGRAPH_BASE;
export const token = process.env.SIMGRAPH_TOKEN;

if (!base || !token) {
  console.error('Set SIMGRAPH_BASE (such as http://127.0.0.1:8080) and SIMGRAPH_TOKEN.');
  process.exit(2);
}

/** A new tab with nothing in its storage, and what went wrong in it. */
export async function openTab(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, acceptDownloads: true, ...options });
  await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: base });
  context.setDefaultTimeout(60_000); // a busy machine
  const tab = await context.newPage();
  const faults = [];
  const received = { bytes: 0, names: [] };
  tab.on('console', (message) => ['error', 'warning'].includes(message.type()) && faults.push(`console: ${message.text()}`));
  tab.on('pageerror', (error) => faults.push(`uncaught: ${error.message}`));
  tab.on('request', (request) => /^(blob|data):/.test(request.url()) || new URL(request.url()).origin === base || faults.push(`foreign: ${request.url()}`));
  tab.on('response', (response) => {
    const { pathname } = new URL(response.url());
    received.names.push(pathname);
    if (pathname === '/' || pathname.startsWith('/assets/')) received.bytes += Number(response.headers()['content-length'] ?? 0);
  });
  return { tab, faults, received, close: () => context.close() };
}

/** Begins a session of the browser with a token, and returns its cookie's value. */
export async function beginSession(tab, bearer = token) {
  const response = await tab.context().request.post(`${base}/session`, { data: { token: bearer }, headers: { origin: base } });
  if (!response.ok()) throw new Error(`no session: ${response.status()} ${await response.text()}`);
  return (await tab.context().cookies(base)).find(({ name }) => name.includes('simgraph')).value;
}

/** Opens the page signed in, at a place such as #/explore. */
export async function enter(tab, place = '#/', bearer = token) {
  // An open page would notice the new session and load itself anew, at the same time as the test.
  await tab.goto('about:blank');
  const session = await beginSession(tab, bearer);
  await tab.goto(`${base}/${place}`);
  await tab.locator('.account-button').waitFor();
  return session;
}

const assets = new URL('../../web/dist/assets/', import.meta.url);
const texts = JSON.parse(gunzipSync(readFileSync(new URL(readdirSync(assets).find((name) => name.startsWith('operations-')), assets))));

/** The text of the operation that a request of the page names; "" for other requests. */
export const textOf = (request) => (request.url().endsWith('/graphql') && request.postData() ? (texts[request.postDataJSON().documentId] ?? '') : '');

/** Sends an operation to the graph, beside the page. */
export async function graph(query, variables = {}) {
  const response = await fetch(`${base}/graphql`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query, variables }),
  });
  const { data, errors } = await response.json();
  if (errors) throw new Error(errors[0].message);
  return data;
}
