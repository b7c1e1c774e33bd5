// graphql-transport-ws, by bare messages and by the client of graphql-ws.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { authorization, counts, endless, socketURL } from './server.js';

const protocol = 'graphql-transport-ws';

// connect opens a socket whose messages and end can be awaited.
async function connect(protocols = protocol) {
  const socket = new WebSocket(socketURL, protocols);
  const messages = [];
  const waiting = [];
  const closed = new Promise((resolve) => {
    socket.on('close', (code, reason) => resolve({ code, reason: String(reason) }));
  });
  socket.on('message', (data) => {
    const message = JSON.parse(data);
    const next = waiting.shift();
    if (next) next(message);
    else messages.push(message);
  });
  await new Promise((resolve, reject) => {
    socket.on('open', resolve);
    socket.on('error', reject);
  });
  return {
    socket,
    closed,
    messages,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next: () => messages.shift() ?? new Promise((resolve) => waiting.push(resolve)),
    end: () => socket.terminate(),
  };
}

async function ready() {
  const c = await connect();
  c.send({ type: 'connection_init', payload: { authorization } });
  assert.deepEqual(await c.next(), { type: 'connection_ack' });
  return c;
}

// check runs against the server within a time in which nothing hangs.
function check(name, run) {
  test(name, { timeout: 30_000 }, run);
}

const query = { query: '{ __typename }' };

for (const [name, protocols] of [['no protocol', []], ['the legacy protocol', ['graphql-ws']], ['an unknown protocol', ['x']]]) {
  check(`${name} is not spoken`, async () => {
    const socket = new WebSocket(socketURL, protocols);
    const code = await new Promise((resolve) => {
      socket.on('close', resolve);
      socket.on('error', () => {});
    });
    // The library ws itself ends a handshake whose protocol was not chosen.
    assert.ok(code === 4406 || code === 1006, String(code));
  });
}

check('the protocol is chosen among others', async () => {
  const c = await connect(['graphql-ws', protocol]);
  assert.equal(c.socket.protocol, protocol);
  c.end();
});

for (const [name, message] of [
  ['text that is no JSON', 'x'], ['an empty message', ''], ['an array', '[]'], ['null', 'null'], ['a message without type', {}],
  ['a type that is no string', { type: 1 }], ['an unknown type', { type: 'unknown' }], ['a legacy type', { type: 'start', id: '1' }],
  ['a message of the server', { type: 'connection_ack' }], ['next from the client', { type: 'next', id: '1', payload: {} }],
  ['ping with a string', { type: 'ping', payload: 'x' }], ['ping with null', { type: 'ping', payload: null }],
  ['pong with a list', { type: 'pong', payload: [] }], ['complete without id', { type: 'complete' }],
  ['complete with an empty id', { type: 'complete', id: '' }], ['complete with a number as id', { type: 'complete', id: 1 }],
  ['subscribe without id', { type: 'subscribe', payload: query }], ['subscribe with an empty id', { type: 'subscribe', id: '', payload: query }],
  ['subscribe with a number as id', { type: 'subscribe', id: 1, payload: query }], ['subscribe without payload', { type: 'subscribe', id: '1' }],
  ['subscribe with a string', { type: 'subscribe', id: '1', payload: 'x' }], ['subscribe without query', { type: 'subscribe', id: '1', payload: {} }],
  ['subscribe with an object as query', { type: 'subscribe', id: '1', payload: { query: {} } }],
  ['subscribe with a list of variables', { type: 'subscribe', id: '1', payload: { ...query, variables: [] } }],
  ['subscribe with a number as operationName', { type: 'subscribe', id: '1', payload: { ...query, operationName: 1 } }],
  ['subscribe with a string of extensions', { type: 'subscribe', id: '1', payload: { ...query, extensions: 'x' } }],
]) {
  check(`${name} is a bad request`, async () => {
    const c = await ready();
    c.send(message);
    assert.deepEqual(await c.closed, { code: 4400, reason: 'Invalid message received' });
  });
}

check('an init payload that is no object is a bad request', async () => {
  const c = await connect();
  c.send({ type: 'connection_init', payload: 'x' });
  assert.equal((await c.closed).code, 4400);
});

check('a binary message is a bad request', async () => {
  const c = await ready();
  c.socket.send(Buffer.from('{"type":"ping"}'), { binary: true });
  assert.equal((await c.closed).code, 4400);
});

check('subscribing before the acknowledgement is unauthorized', async () => {
  const c = await connect();
  c.send({ type: 'subscribe', id: '1', payload: query });
  assert.deepEqual(await c.closed, { code: 4401, reason: 'Unauthorized' });
});

for (const [name, payload] of [['no token', undefined], ['a bad token', { authorization: 'Bearer bad' }]]) {
  check(`${name} is forbidden`, async () => {
    const c = await connect();
    c.send({ type: 'connection_init', payload });
    assert.deepEqual(await c.closed, { code: 4403, reason: 'Forbidden' });
  });
}

check('a second init is one too many', async () => {
  const c = await ready();
  c.send({ type: 'connection_init', payload: { authorization } });
  assert.deepEqual(await c.closed, { code: 4429, reason: 'Too many initialisation requests' });
});

test('init that does not come in time ends the connection', { timeout: 60_000 }, async () => {
  const c = await connect();
  assert.deepEqual(await c.closed, { code: 4408, reason: 'Connection initialisation timeout' });
});

check('ping is answered before the acknowledgement', async () => {
  const c = await connect();
  c.send({ type: 'ping' });
  assert.deepEqual(await c.next(), { type: 'pong' });
  c.end();
});

check('pong brings the payload of ping back', async () => {
  const c = await ready();
  c.send({ type: 'ping', payload: { a: [1, 'ä'] } });
  assert.deepEqual(await c.next(), { type: 'pong', payload: { a: [1, 'ä'] } });
  c.end();
});

check('pong is taken silently', async () => {
  const c = await ready();
  c.send({ type: 'pong', payload: {} });
  c.send({ type: 'ping' });
  assert.deepEqual(await c.next(), { type: 'pong' });
  c.end();
});

check('a query is answered by next and complete', async () => {
  const c = await ready();
  c.send({ type: 'subscribe', id: 'ä "1"', payload: query });
  const next = await c.next();
  assert.equal(next.type, 'next');
  assert.equal(next.id, 'ä "1"');
  assert.equal(next.payload.data.__typename, 'Query');
  assert.ok(!('errors' in next.payload));
  assert.deepEqual(await c.next(), { type: 'complete', id: 'ä "1"' });
  c.end();
});

for (const [name, payload] of [
  ['a syntax error', { query: '{' }], ['an invalid document', { query: '{ nope }' }],
  ['a missing variable', { query: 'query($v: ID!) { __type(name: "x") { name } }' }],
  ['an unknown operation', { ...query, operationName: 'X' }],
]) {
  check(`${name} is answered by error alone, and frees the id`, async () => {
    const c = await ready();
    for (let i = 0; i < 2; i++) {
      c.send({ type: 'subscribe', id: '1', payload });
      const error = await c.next();
      assert.equal(error.type, 'error');
      assert.equal(error.id, '1');
      assert.ok(Array.isArray(error.payload) && error.payload[0].message);
    }
    c.send({ type: 'ping' });
    assert.deepEqual(await c.next(), { type: 'pong' });
    c.end();
  });
}

check('completing what does not run is no error', async () => {
  const c = await ready();
  c.send({ type: 'complete', id: 'unknown' });
  c.send({ type: 'ping' });
  assert.deepEqual(await c.next(), { type: 'pong' });
  c.end();
});

check('operations run side by side', async () => {
  const c = await ready();
  const ids = Array.from({ length: 20 }, (_, i) => String(i));
  for (const id of ids) c.send({ type: 'subscribe', id, payload: query });
  const completed = new Set();
  while (completed.size < ids.length) {
    const message = await c.next();
    if (message.type === 'complete') completed.add(message.id);
  }
  c.end();
});

check('a message above one megabyte ends the connection', async () => {
  const c = await ready();
  c.send({ type: 'ping', payload: { x: 'x'.repeat(1 << 20) } });
  assert.equal((await c.closed).code, 1009);
});

check('an id in use ends the connection', async (t) => {
  const document = await endless();
  if (!document) return t.skip('no subscriptions');
  const c = await ready();
  for (let i = 0; i < 2; i++) c.send({ type: 'subscribe', id: '1', payload: { query: document } });
  assert.deepEqual(await c.closed, { code: 4409, reason: 'Subscriber for 1 already exists' });
});

check('an id is free again once stopped, and can be stopped again', async (t) => {
  const document = await endless();
  if (!document) return t.skip('no subscriptions');
  const c = await ready();
  for (let i = 0; i < 20; i++) {
    c.send({ type: 'subscribe', id: '1', payload: { query: document } });
    c.send({ type: 'complete', id: '1' });
  }
  c.send({ type: 'subscribe', id: '1', payload: query });
  for (;;) {
    const message = await c.next();
    if (message.payload?.data?.__typename === 'Query') break;
  }
  assert.deepEqual(await c.next(), { type: 'complete', id: '1' });
  c.end();
});

check('a stopped subscription sends nothing more', async (t) => {
  const document = await endless();
  if (!document) return t.skip('no subscriptions');
  const c = await ready();
  c.send({ type: 'subscribe', id: '1', payload: { query: document } });
  c.send({ type: 'complete', id: '1' });
  c.send({ type: 'ping' });
  while ((await c.next()).type !== 'pong');
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.deepEqual(c.messages, []);
  c.end();
});

function client(options = {}) {
  return createClient({ url: socketURL, webSocketImpl: WebSocket, connectionParams: { authorization }, retryAttempts: 0, ...options });
}

check('the client of graphql-ws runs a query', async () => {
  const c = client();
  const results = [];
  for await (const result of c.iterate(query)) results.push(result);
  assert.equal(results.length, 1);
  assert.equal(results[0].data.__typename, 'Query');
  await c.dispose();
});

check('the client of graphql-ws receives errors', async () => {
  const c = client();
  await assert.rejects(async () => {
    for await (const _ of c.iterate({ query: '{ nope }' }));
  }, (errors) => Array.isArray(errors) && errors[0].extensions.code === 'GRAPHQL_VALIDATION_FAILED');
  await c.dispose();
});

check('the client of graphql-ws receives FORBIDDEN errors', async () => {
  const c = client({ connectionParams: {} });
  await assert.rejects(async () => {
    for await (const _ of c.iterate(query));
  }, ({ code }) => code === 4403);
  await c.dispose();
});

check('the client of graphql-ws is kept alive', async () => {
  let pongs = 0;
  const c = client({ keepAlive: 50, lazy: false, on: { pong: () => pongs++ } });
  while (pongs < 3) await new Promise((resolve) => setTimeout(resolve, 20));
  await c.dispose();
});

check('the client of graphql-ws follows a subscription to its end', async (t) => {
  if (!(await counts())) return t.skip('no subscription that counts');
  const c = client();
  const seen = [];
  for await (const { data } of c.iterate({ query: 'subscription($n: Int!) { count(to: $n) }', variables: { n: 5 } })) seen.push(data.count);
  assert.deepEqual(seen, [1, 2, 3, 4, 5]);
  await c.dispose();
});

check('the client of graphql-ws stops a subscription', async (t) => {
  const document = await endless();
  if (!document) return t.skip('no subscriptions');
  const c = client();
  const events = c.iterate({ query: document });
  setTimeout(() => events.return(), 300);
  for await (const _ of events);
  await c.dispose();
});
