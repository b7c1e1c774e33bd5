// Exports of the demo company: DuckDB reads the Parquet, and a file that was cut goes on.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { get as request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { companyIn, run } from './companies.js';
import { post, url } from './server.js';

let folder;
let duck;
// A token has one export at a time, so these are of this file alone.
let token;
let tokenOfSessions;
before(async () => {
  token = run(['token', '--user', (await graph('{ viewer { email } }')).viewer.email]);
  tokenOfSessions = companyIn('Europe/Berlin', 'exports', '2026-11-01T00:00:00Z', 2);
  run(['import', '-'], Array.from({ length: 20 }, (_, i) => `${JSON.stringify(session(i))}\n`).join(''));
  folder = await mkdtemp(join(tmpdir(), 'exports-'));
  duck = await (await DuckDBInstance.create()).connect();
});
after(() => rm(folder, { recursive: true }));

/** A session of that company: the demo company has few. */
function session(i) {
  const at = (minutes) => new Date(Date.parse('2026-11-02T00:00:00Z') + (i * 60 + minutes) * 60_000).toISOString();
  return {
    type: 'session', company: 'exports', subscriber: 'exports-1', physicalId: 'exports-1', source: 'pgw-berlin', sessionId: `s-${i}`,
    beganAt: at(0), asOf: at(30), reportedAt: at(30), endedAt: at(30), cause: 'User-Request', intervalSeconds: 300, mobileOriginated: 1000 + i, mobileTerminated: 1, reports: 4, records: 0,
  };
}

const authorized = (input, bearer = token) => fetch(input, { headers: { authorization: `Bearer ${bearer}` } });
const address = (what, parameters = {}) => new URL(`/export/${what}?${new URLSearchParams(parameters)}`, url);

async function text(what, parameters, bearer) {
  const response = await authorized(address(what, parameters), bearer);
  const body = await response.text();
  assert.equal(response.status, 200, body);
  return body;
}

/** Writes an export as Parquet, and returns the only row of a statement about it. */
async function row(what, parameters, statement) {
  const response = await authorized(address(what, { ...parameters, format: 'parquet' }));
  assert.equal(response.status, 200);
  const file = join(folder, `${what}.parquet`);
  await writeFile(file, Buffer.from(await response.arrayBuffer()));
  return (await duck.runAndReadAll(statement.replaceAll('FILE', `'${file}'`))).getRowObjects()[0];
}

async function graph(query) {
  const { data, errors } = await (await post({ query })).json();
  assert.equal(errors, undefined);
  return data;
}

test('the sums of usage in Parquet are the totals of the graph', async () => {
  const { company: { usage: { totals, period } } } = await graph('{ company { usage { totals { mobileOriginated mobileTerminated sessions } period { startsAt endsAt } } } }');
  for (const parameters of [{}, { interval: 'HOUR' }, { interval: 'MONTH', timeZone: 'America/New_York' }, { by: 'SUBSCRIBER,GROUP' }]) {
    const sums = await row('usage', { from: period.startsAt, to: period.endsAt, ...parameters },
      'SELECT sum(mobileOriginated)::BIGINT AS originated, sum(mobileTerminated)::BIGINT AS terminated, sum(sessions)::BIGINT AS sessions, any_value(typeof("start")) AS type, any_value(typeof(total)) AS bytes FROM FILE');
    assert.deepEqual([sums.originated, sums.terminated, sums.sessions], [BigInt(totals.mobileOriginated), BigInt(totals.mobileTerminated), BigInt(totals.sessions)], JSON.stringify(parameters));
    assert.equal(sums.type, 'TIMESTAMP WITH TIME ZONE');
    assert.equal(sums.bytes, 'BIGINT');
  }
});

test('each list has as many rows in Parquet as in the graph', async () => {
  const filter = { isActive: { eq: true } };
  const { subscribers, company } = await graph('{ subscribers(first: 0, filter: {isActive: {eq: true}}) { totalCount } company { sessions(first: 0) { totalCount } } }');
  const read = await row('subscribers', { filter: JSON.stringify(filter) }, 'SELECT count(*) AS n, count(DISTINCT physicalId) AS ids, any_value(typeof(tags)) AS tags FROM FILE');
  assert.deepEqual([read.n, read.ids, read.tags], [BigInt(subscribers.totalCount), BigInt(subscribers.totalCount), 'VARCHAR[]']);
  assert.equal((await row('sessions', {}, 'SELECT count(*) AS n FROM FILE')).n, BigInt(company.sessions.totalCount));
  for (const what of ['alert-log', 'audit']) assert.ok((await row(what, {}, 'SELECT count(*) AS n FROM FILE')).n > 0n);
  const said = await row('subscribers', {}, "SELECT value::VARCHAR AS rows FROM parquet_kv_metadata(FILE) WHERE key::VARCHAR = 'simgraph.rows'");
  assert.ok(Number(said.rows) > 0);
});

test('the last record has the checksum of what is before it', async () => {
  for (const format of ['csv', 'ndjson']) {
    const file = Buffer.from(await text('usage', { format }));
    const last = file.subarray(0, -1).lastIndexOf(0x0a) + 1;
    const end = file.subarray(last).toString();
    assert.match(end, new RegExp(`sha256["=:]+${createHash('sha256').update(file.subarray(0, last)).digest('hex')}`));
    assert.match(end, new RegExp(`bytes["=:]+${last}\\b`));
  }
});

test('a file that is cut in the middle goes on with exactly the rest', async () => {
  for (const [what, bearer, parameters, keyOf] of [
    ['usage', token, { by: 'PROTOCOL' }, ({ start, physicalId, value }) => [start, encodeURIComponent(physicalId), encodeURIComponent(value)].join('/')],
    ['sessions', tokenOfSessions, {}, ({ cursor }) => cursor],
    ['subscribers', token, {}, ({ cursor }) => cursor],
  ]) {
    const options = { format: 'ndjson', ...parameters };
    const rows = (file) => file.split('\n').filter((line) => line.endsWith('}') && !line.startsWith('{"export"') && !line.startsWith('{"end"'));
    const file = await text(what, options, bearer);
    const whole = rows(file);
    const cut = await begin(what, options, bearer, file.length / 2);
    const first = rows(cut.slice(0, cut.lastIndexOf('\n') + 1));
    assert.ok(first.length > 0 && first.length < whole.length);
    const rest = rows(await retried(what, { ...options, after: keyOf(JSON.parse(first.at(-1))) }, bearer));
    assert.deepEqual([...first, ...rest], whole, what);
  }
});

/** The first bytes of an export, which is left then. The file of a short one may have come whole by that time. */
function begin(what, parameters, bearer, length) {
  return new Promise((done, failed) => {
    request(address(what, parameters), { headers: { authorization: `Bearer ${bearer}` } }, (answer) => {
      let read = '';
      answer.setEncoding('latin1');
      answer.on('data', (part) => {
        read += part;
        if (read.length >= length) answer.destroy();
      });
      answer.on('close', () => done(Buffer.from(read, 'latin1').subarray(0, length).toString()));
    }).on('error', failed);
  });
}

/** The export that was left may take a moment to end; a token has one at a time. */
async function retried(what, parameters, bearer) {
  for (;;) {
    const response = await authorized(address(what, parameters), bearer);
    const body = await response.text();
    if (response.status !== 429) {
      assert.equal(response.status, 200, body);
      return body;
    }
    assert.ok(Number(response.headers.get('retry-after')) > 0);
    await new Promise((done) => { setTimeout(done, 200); });
  }
}
