// The client against a server of HTTP that answers as the test says.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { AttachTagDocument, Client, GraphError, ListTagsDocument, ReadViewerDocument, WatchUsageDocument } from 'simgraph-client';

/** A client of a server whose graph is the function; its tokens are numbered. */
async function serve(t, graph) {
  const seen = { tokens: 0, bodies: [] };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const json = (status, value, headers = {}) => response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(value));
    if (request.url === '/oauth/token') {
      if (request.headers.authorization !== `Basic ${btoa('key:secret')}`) return json(401, { error: 'invalid_client' });
      return json(200, { access_token: `token ${++seen.tokens}`, expires_in: 3600 });
    }
    seen.bodies.push(JSON.parse(body));
    graph(json, request, response);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${server.address().port}/`;
  return { seen, url, client: new Client({ url, key: 'key', secret: 'secret' }) };
}

test('a request that is put off is sent again', async (t) => {
  const { seen, client } = await serve(t, (json) =>
    seen.bodies.length < 3 ? json([429, 503][seen.bodies.length - 1], {}, { 'retry-after': '0' }) : json(200, { data: { attachTag: { attached: 2 } } }));
  const { data, errors } = await client.run(AttachTagDocument, { input: { tagName: 'fleet', physicalIds: ['1', '2'] } });
  assert.deepEqual([data.attachTag.attached, errors, seen.bodies.length], [2, [], 3]);
  assert.deepEqual(seen.bodies[0], seen.bodies[2]);
});

test('waiting ends', async (t) => {
  let after = '0';
  const { seen, client } = await serve(t, (json) => json(503, { errors: [{ message: 'later' }] }, { 'retry-after': after }));
  await assert.rejects(client.run(ReadViewerDocument), /later/);
  assert.equal(seen.bodies.length, 5);
  after = '3600';
  await assert.rejects(client.run(ReadViewerDocument), GraphError);
  assert.equal(seen.bodies.length, 6);
  after = '30';
  await assert.rejects(client.run(ReadViewerDocument, {}, { signal: AbortSignal.timeout(100) }), { name: 'TimeoutError' });
  assert.equal(seen.bodies.length, 7);
});

test('a token that is refused is replaced once, and one exchange serves all', async (t) => {
  let good = 'Bearer token 2';
  const { seen, client, url } = await serve(t, (json, { headers }) => (headers.authorization === good ? json(200, { data: { viewer: { email: 'ops@acme.example' } } }) : json(401, {})));
  const answers = await Promise.all([1, 2, 3].map(() => client.run(ReadViewerDocument)));
  assert.deepEqual(answers.map(({ data }) => data.viewer.email), Array(3).fill('ops@acme.example'));
  assert.equal(seen.tokens, 2);
  good = 'none';
  await assert.rejects(client.run(ReadViewerDocument), /401/);
  assert.equal(seen.tokens, 3);
  await assert.rejects(new Client({ url, key: 'key', secret: 'wrong' }).run(ReadViewerDocument), /invalid_client/);
});

test('a list goes on page by page', async (t) => {
  const page = (names, endCursor) => ({ data: { tags: { nodes: names.map((name) => ({ name })), pageInfo: { hasNextPage: true, endCursor } } } });
  const { seen, client } = await serve(t, (json) => json(200, [page(['a', 'b'], 'B'), page(['c'], 'C'), { data: { tags: null }, errors: [{ message: 'failed' }] }][seen.bodies.length - 1]));
  let names = '';
  await assert.rejects(async () => {
    for await (const { name } of client.list(ListTagsDocument, { filter: { name: { in: ['a', 'b', 'c'] } } })) names += name;
  }, /failed/);
  assert.equal(names, 'abc');
  const filter = { name: { in: ['a', 'b', 'c'] } };
  assert.deepEqual(seen.bodies.map(({ variables }) => variables), [{ filter, first: 100 }, { filter, first: 100, after: 'B' }, { filter, first: 100, after: 'C' }]);
  seen.bodies.length = 0;
  for await (const { name } of client.list(ListTagsDocument)) {
    assert.equal(name, 'a');
    break;
  }
  assert.equal(seen.bodies.length, 1);
});

test('a subscription that is put off begins later, and ends with its loop', async (t) => {
  let ended;
  const closed = new Promise((resolve) => (ended = resolve));
  const { seen, client } = await serve(t, (json, request, response) => {
    if (seen.bodies.length === 1) return json(503, {}, { 'retry-after': '0' });
    response.on('close', ended);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(`event: next\ndata: ${JSON.stringify({ data: { usageRecorded: { bytes: '9007199254740993' } } })}\n\n`);
  });
  for await (const { data } of client.watch(WatchUsageDocument)) {
    assert.equal(data.usageRecorded.bytes, '9007199254740993');
    break;
  }
  await closed;
  assert.equal(seen.tokens, 1);
  const ending = new AbortController();
  await assert.rejects(async () => {
    for await (const _ of client.watch(WatchUsageDocument, {}, { signal: ending.signal })) ending.abort(new Error('enough'));
  }, /enough/);
});
