// Server-sent events in the distinct connections mode of graphql-sse.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from 'graphql-sse';
import { authorization, authorized, counts, endless, get, post, schema, url } from './server.js';

const accept = 'text/event-stream';
const query = '{ __typename }';

function check(name, run) {
  test(name, { timeout: 30_000 }, run);
}

// events splits a stream that has ended.
async function events(response) {
  assert.equal(response.status, 200);
  assert.match(response.headers.get('content-type'), /^text\/event-stream/);
  assert.match(response.headers.get('cache-control'), /no-store|no-cache/);
  const text = await response.text();
  assert.ok(text.endsWith('\n\n'), 'the last event is terminated');
  return text.split('\n\n').filter((block) => block && !block.startsWith(':')).map((block) => {
    const [, name, data] = /^event: (.*)\ndata:(.*)$/s.exec(block);
    return { name, data: data.trim() && JSON.parse(data) };
  });
}

for (const [name, ask] of [
  ['POST', (document) => post({ query: document }, { accept })],
  ['GET', (document) => get({ query: document }, { accept })],
]) {
  check(`a query by ${name} is one event and the end`, async () => {
    const [next, complete, ...rest] = await events(await ask(query));
    assert.equal(next.name, 'next');
    assert.equal(next.data.data.__typename, 'Query');
    assert.deepEqual(complete, { name: 'complete', data: '' });
    assert.deepEqual(rest, []);
  });

  check(`an invalid document by ${name} is an event with errors and the end`, async () => {
    const [next, complete] = await events(await ask('{ nope }'));
    assert.equal(next.data.errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED');
    assert.ok(!('data' in next.data));
    assert.equal(complete.name, 'complete');
  });

  check(`a subscription by ${name} is an event for each result`, async (t) => {
    if (!(await counts())) return t.skip('no subscription that counts');
    const all = await events(await ask('subscription { count(to: 3) }'));
    assert.deepEqual(all.map((event) => event.data?.data?.count), [1, 2, 3, undefined]);
  });
}

check('a mutation by GET is refused', async (t) => {
  if (!(await schema()).mutationType) return t.skip('no mutations');
  const response = await get({ query: 'mutation { __typename }' }, { accept });
  assert.equal(response.status, 405);
  assert.equal(response.headers.get('allow'), 'POST');
});

for (const [name, body] of [['no JSON', '{'], ['no query', '{}'], ['a batch', '[]']]) {
  check(`${name} is 400`, async () => {
    assert.equal((await post(body, { accept })).status, 400);
  });
}

check('a stream without a token is refused', async () => {
  const response = await fetch(`${url}?${new URLSearchParams({ query })}`, { headers: { accept } });
  assert.equal(response.status, 401);
});

check('the headers of a silent stream come at once', async (t) => {
  const document = await endless();
  if (!document) return t.skip('no subscriptions');
  const stop = new AbortController();
  const response = await authorized(`${url}?${new URLSearchParams({ query: document })}`, { headers: { accept }, signal: stop.signal });
  assert.equal(response.status, 200);
  const { value } = await response.body.getReader().read();
  assert.match(new TextDecoder().decode(value), /^:\n\n/);
  stop.abort();
});

test('a silent stream is kept alive', { timeout: 60_000 }, async (t) => {
  const document = await endless();
  if (!document) return t.skip('no subscriptions');
  const stop = new AbortController();
  const response = await authorized(`${url}?${new URLSearchParams({ query: document })}`, { headers: { accept }, signal: stop.signal });
  let comments = 0;
  for await (const chunk of response.body) {
    comments += new TextDecoder().decode(chunk).split('\n\n').filter((block) => block.startsWith(':')).length;
    if (comments > 1) break;
  }
  assert.ok(comments > 1);
  stop.abort();
});

function client(headers = { authorization }) {
  return createClient({ url, headers, retryAttempts: 0, singleConnection: false });
}

check('the client of graphql-sse runs a query', async () => {
  const c = client();
  const results = [];
  for await (const result of c.iterate({ query })) results.push(result);
  assert.equal(results.length, 1);
  assert.equal(results[0].data.__typename, 'Query');
  c.dispose();
});

check('the client of graphql-sse receives errors', async () => {
  const c = client();
  for await (const result of c.iterate({ query: '{ nope }' })) {
    assert.equal(result.errors[0].extensions.code, 'GRAPHQL_VALIDATION_FAILED');
  }
  c.dispose();
});

check('the client of graphql-sse receives FORBIDDEN errors', async () => {
  const c = client({});
  await assert.rejects(async () => {
    for await (const _ of c.iterate({ query }));
  });
  c.dispose();
});

check('the client of graphql-sse follows a subscription to its end', async (t) => {
  if (!(await counts())) return t.skip('no subscription that counts');
  const c = client();
  const seen = [];
  for await (const { data } of c.iterate({ query: 'subscription($n: Int!) { count(to: $n) }', variables: { n: 5 } })) seen.push(data.count);
  assert.deepEqual(seen, [1, 2, 3, 4, 5]);
  c.dispose();
});

check('the client of graphql-sse stops a subscription', async (t) => {
  const document = await endless();
  if (!document) return t.skip('no subscriptions');
  const c = client();
  const stream = c.iterate({ query: document });
  setTimeout(() => stream.return(), 300);
  for await (const _ of stream);
  c.dispose();
});
