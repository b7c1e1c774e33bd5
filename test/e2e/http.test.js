// GraphQL over HTTP: all audits of graphql-http, and what they leave out.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serverAudits } from 'graphql-http';
import { authorized, get, post, schema, url } from './server.js';

for (const audit of serverAudits({ url, fetchFn: authorized })) {
  test(`audit ${audit.id}: ${audit.name}`, async () => {
    const result = await audit.fn();
    // Notices and warnings are faults here too.
    assert.equal(result.status, 'ok', result.reason);
  });
}

const graphqlJSON = 'application/graphql-response+json';
const query = '{ __typename }';

async function refused(response, status, code) {
  assert.equal(response.status, status);
  const body = await response.json();
  assert.ok(!('data' in body), 'a refused request has no data');
  assert.ok(body.errors.length > 0);
  for (const error of body.errors) {
    assert.equal(typeof error.message, 'string');
    assert.ok(error.extensions?.code, `an error without a code: ${JSON.stringify(error)}`);
  }
  if (code) assert.equal(body.errors[0].extensions.code, code);
}

test('a request without a token is refused', async () => {
  const response = await fetch(url, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ query }),
  });
  assert.equal(response.status, 401);
  assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/);
});

test('quality values decide the type', async () => {
  const response = await post({ query }, { accept: `application/json;q=0.1, ${graphqlJSON};q=0.9` });
  assert.match(response.headers.get('content-type'), /^application\/graphql-response\+json/);
});

test('the answer says that it is UTF-8 and how it may be stored', async () => {
  const { headers } = await post({ query });
  assert.match(headers.get('content-type'), /charset=utf-8/i);
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('vary'), /accept/i);
  assert.equal(headers.get('cache-control'), 'no-store');
});

test('nothing acceptable is 406', async () => {
  await refused(await post({ query }, { accept: 'text/plain' }), 406);
});

test('a browser gets the explorer', async () => {
  const response = await authorized(url, { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^text\/html/);
});

for (const method of ['PUT', 'DELETE', 'PATCH']) {
  test(`${method} is refused`, async () => {
    const response = await authorized(url, { method, body: JSON.stringify({ query }) });
    assert.match(response.headers.get('allow'), /POST/);
    await refused(response, 405);
  });
}

test('a mutation over GET is 405 and says what is allowed', async (t) => {
  if (!(await schema()).mutationType) return t.skip('no mutations');
  const response = await get({ query: 'mutation { __typename }' });
  assert.equal(response.headers.get('allow'), 'POST');
  await refused(response, 405);
});

for (const [name, contentType] of [
  ['a form', 'application/x-www-form-urlencoded'], ['an upload', 'multipart/form-data; boundary=x'],
  ['a bare document', 'application/graphql'], ['another charset', 'application/json; charset=utf-16'],
]) {
  test(`${name} is 415`, async () => {
    await refused(await post(JSON.stringify({ query }), { 'content-type': contentType }), 415);
  });
}

for (const [name, body] of [
  ['a batch', [{ query }]], ['bytes after the value', `${JSON.stringify({ query })} x`], ['an empty query', { query: '' }],
  ['half a surrogate pair', '{"query":"{ __typename } #\\ud800"}'], ['an empty body', ''],
]) {
  test(`${name} is 400`, async () => {
    await refused(await post(body), 400);
  });
}

test('errors do not echo the body', async () => {
  const text = await (await post('{"query": pass-word}')).text();
  assert.ok(!text.includes('pass-word'), text);
});

test('a body above one megabyte is 413', async () => {
  await refused(await post({ query: `{ __typename } #${'x'.repeat(1 << 20)}` }), 413);
});

test('a subscription by plain POST is refused, not answered once', async (t) => {
  const { subscriptionType } = await schema();
  if (!subscriptionType) return t.skip('no subscriptions');
  await refused(await post({ query: 'subscription { __typename }' }, { accept: graphqlJSON }), 400);
});

test('@defer is not known', async () => {
  await refused(await post({ query: '{ ... @defer { __typename } }' }, { accept: graphqlJSON }), 400);
});

for (const [name, document] of [
  ['doubling fragments', `{ __schema { types { ...F0 } } } ${Array.from({ length: 24 }, (_, i) =>
    `fragment F${i} on __Type { a: ofType { ...F${i + 1} } b: ofType { ...F${i + 1} } }`).join(' ')} fragment F24 on __Type { name }`],
  ['equal fields', `{ ${'__typename '.repeat(5000)} }`],
  ['aliases of __schema', `{ ${Array.from({ length: 300 }, (_, i) => `a${i}: __schema { types { name } }`).join(' ')} }`],
  ['unknown directives', `{ __typename ${'@a'.repeat(4900)} }`],
  ['nested fragments', `{ ${'... { '.repeat(900)} __typename ${'}'.repeat(900)} }`],
]) {
  test(`a document of ${name} is refused at once`, { timeout: 10_000 }, async () => {
    await refused(await post({ query: document }, { accept: graphqlJSON }), 400, 'DOCUMENT_LIMIT_EXCEEDED');
  });
}
