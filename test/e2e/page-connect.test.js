// A carrier, files, a gateway and a program are connected from the page.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { promisify } from 'node:util';
import { base, enter, graph } from './browser.js';
import { account, interim } from './radius.js';
import { authorized } from './server.js';
import { accessible, countClicks, eventually, pageTests } from './tab.js';

const inTab = pageTests();
const run = promisify(execFile);
let folder, iccid, subscriber;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'connect-'));
  const { nodes: [first] } = (await graph('{ subscribers(first: 1, filter: {kind: {eq: CELLULAR}, isActive: {eq: true}}) { nodes { physicalId } } }')).subscribers;
  iccid = subscriber = first.physicalId;
});
after(() => rm(folder, { recursive: true }));

const began = new Date(Math.floor(Date.now() / 1000) * 1000 - 20 * 60_000);
const time = (minutes) => new Date(began.getTime() + minutes * 60_000).toISOString().replace('.000', '');

/** A usage record as 1NCE's Data Streamer posts it. */
const usage = (id, more = {}) => ({
  id, imsi: '901405100000001', sim: { iccid, msisdn: '882285100000001', id: 123456 }, start_timestamp: time(0), end_timestamp: time(10),
  operator: { id: 2, name: 'T-Mobile', mnc: '01', country: { id: 74, mcc: '262', name: 'Germany' } }, traffic_type: { id: 5, description: 'Data' }, volume: { total: 1.75, tx: 1.5, rx: 0.25 }, ...more,
});
const streamed = (first) => JSON.stringify([usage(first), usage(first + 1), { id: first + 2, traffic_type: { id: 6, description: 'SMS' }, volume: { total: 1, tx: 1, rx: 0 } }, { id: first + 3, traffic_type: { id: 5 }, volume: { tx: 1, rx: 1 } }]);

const source = (name, fields) => graph(`query ($name: String!) { source(by: {name: $name}) { ${fields} } }`, { name }).then(({ source }) => source);

async function create(name, profileName = '1nce') {
  const { createSource: made } = await graph('mutation ($input: CreateSourceInput!) { createSource(input: $input) { secret source { path } } }', { input: { name, profileName, authentication: 'BASIC' } });
  return { ...made, post: (body, secret = made.secret) => fetch(base + made.source.path, { method: 'POST', body, headers: { authorization: `Basic ${Buffer.from(`any:${secret}`).toString('base64')}` } }) };
}

/** Runs a command that the page shows, where a file of records lies. */
async function shell(command, env = {}) {
  const { stdout } = await run('/bin/sh', ['-c', command], { cwd: folder, env: { PATH: process.env.PATH, ...env } });
  return stdout;
}

const panelOf = (tab, name) => tab.getByRole('region', { name, exact: true });

const copied = (tab, label) => tab.getByRole('group', { name: label, exact: true }).textContent();

inTab('a carrier is connected in four clicks: its sample is mapped, its address and secret are copied, and its first records arrive', async (tab) => {
  await enter(tab, '#/sources');
  const clicks = await countClicks(tab);
  await tab.getByRole('main').getByRole('link', { name: 'Connect', exact: true }).click();
  await tab.getByRole('link', { name: /^Carrier's webhook/ }).click();
  await tab.getByLabel('Profile', { exact: true }).selectOption('1nce');
  await tab.getByLabel('A sample of what it sends').fill(streamed(100));
  await tab.getByText('2 of 4 would be booked, 1 left out, 1 cannot be used.').waitFor();
  const mapped = tab.getByRole('region', { name: 'Table of the sample' }).getByRole('row');
  await eventually(() => mapped.nth(1).textContent(), new RegExp(`booked${iccid}.*250\\skB1\\.50?\\sMB`));
  await eventually(() => mapped.nth(3).textContent(), /left out/);
  await eventually(() => mapped.nth(4).textContent(), /rejected/);
  await eventually(() => tab.getByLabel('Name', { exact: true }).inputValue(), '1nce');
  await tab.getByLabel('Name', { exact: true }).fill('1nce-page');
  await tab.getByRole('button', { name: 'Create the source' }).click();
  await tab.getByRole('button', { name: 'Copy secret' }).click();
  assert.equal(await clicks(), 4);

  const secret = await copied(tab, 'Secret');
  await eventually(() => tab.evaluate(() => navigator.clipboard.readText()), secret);
  const { path } = await source('1nce-page', 'path');
  assert.equal(await copied(tab, 'Address'), base + path);
  await tab.getByText('Waiting for the first records').waitFor();

  await writeFile(join(folder, 'records.json'), streamed(200));
  assert.deepEqual(JSON.parse(await shell(await copied(tab, 'A test with curl'))), { accepted: 2, duplicates: 0, rejected: 1, skipped: 1, waiting: 0 });
  await tab.getByText('2 accepted, 1 rejected, 1 left out').waitFor();
  await tab.getByRole('list', { name: 'Rejected records' }).getByText('rejected').waitFor();

  await tab.getByRole('button', { name: 'Hide the secret' }).click();
  await eventually(() => tab.getByText(secret).count(), 0);
  assert.match(await copied(tab, 'A test with curl'), /-u any:SECRET /);
  await tab.getByRole('link', { name: 'Usage by source' }).click();
  const shares = tab.getByRole('list', { name: 'Usage by source' });
  await shares.getByText('1nce-page').waitFor();
  await eventually(() => shares.getByRole('listitem').filter({ hasText: '1nce-page' }).textContent(), /1nce-page .*%.*3\.50?\sMB/);
  await tab.getByRole('row').filter({ hasText: '1nce-page' }).getByText('active').waitFor();
  await tab.getByRole('button', { name: '31 days' }).click();
  await shares.getByText('1nce-page').waitFor();
});

inTab('each way to authenticate is shown as a command that works', async (tab) => {
  for (const [value, name] of [['BEARER', 'by-bearer'], ['SIGNATURE', 'by-signature']]) {
    await enter(tab, '#/sources/connect/webhook');
    await tab.getByLabel('Profile', { exact: true }).selectOption('1nce');
    await tab.getByLabel('Name', { exact: true }).fill(name);
    await tab.getByLabel('It authenticates by').selectOption(value);
    if (value === 'SIGNATURE') await tab.getByLabel('Header of the signature').fill('X-Carrier-Signature');
    await tab.getByRole('button', { name: 'Create the source' }).click();
    await tab.getByRole('group', { name: 'A test with curl' }).waitFor();
    await writeFile(join(folder, 'records.json'), JSON.stringify([usage(value === 'BEARER' ? 301 : 302)]));
    assert.equal(JSON.parse(await shell(await copied(tab, 'A test with curl'))).accepted, 1);
  }
});

inTab('a profile is written for a sample of CSV, and files are read by it', async (tab) => {
  await enter(tab, '#/sources/connect/files');
  await tab.getByLabel('Profile', { exact: true }).selectOption('Write one for my sample');
  await tab.getByText('Say where the fields are').or(tab.getByText('Write a name for the profile.')).waitFor();
  const csv = (volume) => `ICCID;Start;kB\n${iccid};${time(3).slice(0, 16).replace('T', ' ')};${volume}\n`;
  await tab.getByLabel('A sample of what it sends').fill(csv('1,5'));
  await eventually(() => tab.getByLabel('Expression of Start').inputValue(), 'r.Start');
  await tab.getByLabel('Name of the profile').fill('mvno');
  await tab.getByText('1 cannot be used').waitFor();
  await tab.getByLabel(/^Date formats/).fill('yyyy-MM-dd HH:mm');
  await tab.getByLabel('Expression of Volume without direction').fill('r.kB.replace(');
  await tab.locator('[aria-label="Expression of Volume without direction"][aria-invalid="true"]').waitFor();
  await tab.getByLabel('Expression of Volume without direction').fill('r.kB.replace(",", ".")');
  await tab.getByText('1 of 1 would be booked.').waitFor();
  await tab.getByRole('link', { name: 'Connect', exact: true }).click();
  const question = tab.getByRole('dialog', { name: 'Discard what you typed?' });
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await eventually(() => tab.getByLabel('Name of the profile').inputValue(), 'mvno');

  await tab.getByLabel('Or a file').setInputFiles({ name: 'usage.csv', mimeType: 'text/csv', buffer: Buffer.from(csv('1,5') + csv('2').split('\n')[1]) });
  await tab.getByText('2 of 2 would be booked.').waitFor();
  await tab.getByLabel('Name', { exact: true }).fill('mvno files');
  await tab.getByRole('button', { name: 'Create the source' }).click();
  const upload = await copied(tab, 'A file over HTTP');
  assert.match(await copied(tab, 'The folder, and the server that watches it'), /mkdir -p '\/srv\/drop\/demo\/mvno files'/);
  await writeFile(join(folder, 'records.csv'), csv('2,5'));
  assert.deepEqual(JSON.parse(await shell(upload, { TOKEN: process.env.SIMGRAPH_TOKEN })), { accepted: 1, duplicates: 0, rejected: 0, skipped: 0, waiting: 0 });
  await tab.getByText('1 accepted').waitFor();
});

inTab('a gateway is connected by a command, and its first packet is seen', async (tab) => {
  await enter(tab, '#/sources/connect/radius');
  await tab.getByText('Write a name to see what arrives.').waitFor();
  await tab.waitForTimeout(2_500); // nothing is asked before there is a name
  await tab.getByLabel('Addresses that it sends from').fill('10.1.0.0/33');
  await tab.getByText('Write an address, or a network such as 10.1.0.0/16.').waitFor();
  await tab.getByLabel('Addresses that it sends from').fill('127.0.0.1/32');
  await tab.getByLabel('Name of the gateway').fill('e2e');
  assert.equal(await copied(tab, 'Command'), 'simgraph radius client add e2e --network 127.0.0.1/32 --company demo');
  await account(interim, { session: 'connect', imsi: '999990000000077', seconds: 60, sent: 5_000, address: '10.99.1.2' });
  await tab.getByRole('list', { name: 'What has arrived' }).getByText('e2e-gateway').waitFor();
});

inTab('a program sends records by the commands that are shown', async (tab) => {
  const { createAccessKey: { secret, accessKey } } = await graph('mutation ($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }', {
    input: { userEmail: (await graph('{ viewer { email } }')).viewer.email, scope: { permissions: ['RECORD_USAGE'] }, lifetimeDays: 1, name: 'Connected program' },
  });
  await enter(tab, '#/sources/connect/program');
  await tab.getByLabel('Name of the source').fill('my meter');
  const token = (await copied(tab, 'A token, by the key')).split('\n')[1];
  const [byStream, byGraph] = [await copied(tab, 'Records, one a line, in a stream of any length'), await copied(tab, 'The same by GraphQL, at most 1,000 at once')];
  const answer = await shell(`${token}\n${byStream}\n${byGraph}`, { KEY: accessKey.accessKeyId, SECRET: secret });
  assert.match(answer, /ACCEPTED|accepted/);
  assert.match(answer, /"status":"DUPLICATE"/);
  await tab.getByRole('list', { name: 'What has arrived' }).getByText('my meter').waitFor();
});

inTab('another account is taken over by a command', async (tab) => {
  await enter(tab, '#/sources/connect');
  await tab.getByRole('link', { name: /^Another account/ }).click();
  await tab.getByLabel('Address', { exact: true }).fill('https://other.example');
  assert.equal(await copied(tab, 'Command'), 'simgraph move --from https://other.example --key-file key.txt --company demo');
});

inTab('another account is kept in step: a key that is refused is said, and it is edited, paused and deleted', async (tab) => {
  let asked = 0;
  const other = createServer((_, answer) => { asked++; answer.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"invalid_client"}'); });
  await new Promise((resolve) => other.listen(0, '127.0.0.1', resolve));
  try {
    await enter(tab, '#/sources/connect/account');
    await tab.getByRole('button', { name: 'Connect the account' }).and(tab.locator(':disabled')).waitFor();
    await tab.getByLabel('Name', { exact: true }).fill('old account');
    await tab.getByLabel('Address of the other server').fill(`http://127.0.0.1:${other.address().port}`);
    await tab.getByLabel('Access key of the other server').fill('sgk_1_old:wrong');
    await tab.getByRole('button', { name: 'Connect the account' }).click();
    await tab.getByRole('heading', { level: 1, name: /old account failing/ }).waitFor();
    await tab.getByText(/The last pass failed/).waitFor();
    assert.ok(asked > 0);
    assert.doesNotMatch(await tab.content(), /sgk_1_old:wrong/);
    await tab.getByRole('button', { name: 'Edit' }).click();
    await tab.getByLabel('Name', { exact: true }).fill('older account');
    await tab.getByLabel('are those of the other server').check();
    await tab.getByRole('button', { name: 'Save' }).click();
    await tab.getByRole('heading', { level: 1, name: /older account/ }).waitFor();
    await tab.getByText('those of the other server').waitFor();
    await accessible(tab);
    await tab.getByRole('button', { name: 'Pause' }).click();
    await tab.getByRole('heading', { level: 1, name: /older account paused/ }).waitFor();
    await enter(tab, '#/sources');
    await tab.getByRole('region', { name: 'Other accounts', exact: true }).getByRole('link', { name: 'older account' }).click();
    await tab.getByRole('button', { name: 'Delete' }).click();
    await tab.getByRole('button', { name: 'Delete the account' }).click();
    await tab.getByText('No account of another server is kept in step with here.').waitFor();
  } finally {
    other.close();
  }
});

/** Another server that has some subscribers of the demo company, or none, and answers writes by a status. */
async function otherServer() {
  const own = new URLSearchParams({ limit: '14', filter: 'kind eq cellular and isActive eq true', orderBy: 'connectionDate ASC' });
  const of = { isEmpty: false, writes: 404, written: [] };
  const server = createServer(async (request, answer) => {
    const say = (body, status = 200) => answer.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const { pathname, search } = new URL(request.url, base);
    if (pathname === '/oauth/token') return say({ access_token: 'of the tests', expires_in: 300 });
    if (request.method !== 'GET') {
      of.written.push(`${request.method} ${pathname}`);
      return say(of.writes === 200 ? { content: {} } : { error: { message: 'no such subscriber', code: 'INVALID_PROPERTY' } }, of.writes);
    }
    if (pathname.startsWith('/analytics')) return say({ content: { subscriberDataUsage: {} } });
    if (pathname === '/subscribers' && of.isEmpty) return say({ content: [] });
    return say(await (await authorized(base + pathname + (pathname === '/subscribers' ? `?${own}` : search))).json());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return Object.assign(of, { url: `http://127.0.0.1:${server.address().port}`, close: () => server.close() });
}

inTab('an account asks before many subscribers become inactive, and shows edits that are refused', async (tab) => {
  const other = await otherServer();
  const rename = (nickname) => graph('mutation ($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { nickname } } }', { input: { physicalId: renamed.physicalId, nickname } });
  const [renamed] = (await (await authorized(`${base}/subscribers?limit=1&filter=${encodeURIComponent('kind eq cellular and isActive eq true')}&orderBy=${encodeURIComponent('connectionDate ASC')}`)).json()).content;
  try {
    await enter(tab, '#/sources/connect/account');
    await tab.getByLabel('Name', { exact: true }).fill('both ways');
    await tab.getByLabel('Address of the other server').fill(other.url);
    await tab.getByLabel('Access key of the other server').fill('sgk_1_old:right');
    await tab.getByLabel('Days of usage').fill('1');
    await tab.getByLabel('Alerts, with their log').uncheck();
    await tab.getByLabel('are the same on both').check();
    await tab.getByText('The key needs the permission Update the Details of a Subscriber there.').waitFor();
    await tab.getByRole('button', { name: 'Connect the account' }).click();
    await tab.getByRole('heading', { level: 1, name: /both ways in step/ }).waitFor();
    const writes = tab.getByRole('region', { name: 'Edits that are sent there' });
    await rename('refused there');
    await writes.getByText(`nickname of ${renamed.physicalId}: /subscribers/${renamed.physicalId} was answered by 404: no such subscriber`).waitFor();
    await accessible(tab);
    other.writes = 200;
    await rename(renamed.nickname);
    await writes.getByText('no such subscriber').waitFor({ state: 'detached' });
    while (other.written.length < 2) await tab.waitForTimeout(100);
    assert.ok(other.written.every((request) => request === `PATCH /subscribers/${renamed.physicalId}`), other.written.join(', '));
    const sweep = async (state) => {
      const read = () => graph('{ upstreams(first: 1) { nodes { lastSweptAt state } } }').then(({ upstreams }) => upstreams.nodes[0]);
      const { lastSweptAt } = await read();
      await tab.getByRole('button', { name: 'Read all of it' }).click();
      for (let last = await read(); last.lastSweptAt === lastSweptAt || last.state !== state; last = await read()) await tab.waitForTimeout(200);
    };
    other.isEmpty = true;
    await sweep('READY');
    await sweep('HELD');
    await tab.getByRole('heading', { level: 1, name: /both ways waits for you/ }).waitFor();
    const question = tab.getByRole('region', { name: 'Make 14 subscribers inactive?' });
    await question.getByText(/two sweeps in a row did not find 14 subscribers/).waitFor();
    await question.getByRole('button', { name: 'Make 14 subscribers inactive' }).waitFor();
    await accessible(tab);
    other.isEmpty = false;
    await sweep('READY');
    await question.waitFor({ state: 'detached' });
    await tab.getByRole('button', { name: 'Delete' }).click();
    await tab.getByRole('button', { name: 'Delete the account' }).click();
    await tab.getByRole('heading', { level: 1, name: 'Sources' }).waitFor();
  } finally {
    other.close();
  }
});

inTab('a source is paused, gets a new secret and another profile, its rejects are read again, and it is deleted', async (tab) => {
  const { post, secret } = await create('1nce-run');
  assert.equal((await post(JSON.stringify([usage(401), { ...usage(402), sim: {} }]))).status, 200);
  await enter(tab, '#/sources');
  await tab.getByRole('link', { name: '1nce-run' }).click();
  await tab.getByRole('heading', { level: 1, name: /1nce-run active/ }).waitFor();
  await tab.getByRole('button', { name: 'Pause' }).click();
  await tab.getByRole('heading', { level: 1, name: /1nce-run paused/ }).waitFor();
  assert.equal((await post('[]')).status, 503);
  await tab.getByRole('button', { name: 'Resume' }).click();
  await tab.getByRole('heading', { level: 1, name: /1nce-run active/ }).waitFor();

  await tab.getByRole('button', { name: 'New secret' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Make a new secret' }).click();
  const shown = tab.getByRole('region', { name: 'The secret of 1nce-run' });
  const next = await shown.locator('dd').textContent();
  for (const one of [secret, next]) assert.equal((await post('[]', one)).status, 200);
  await shown.getByRole('button', { name: 'Done' }).click();
  await eventually(() => tab.getByText(next).count(), 0);
  await tab.getByText('Secret before').waitFor();

  const rejects = panelOf(tab, 'Rejected records');
  await rejects.getByRole('button', { name: /^Show the record/ }).click();
  await tab.getByRole('dialog').getByText('"imsi": "901405100000001"').waitFor();
  await tab.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

  // The profile is mended under a name of its own, and the source gets it.
  await tab.getByRole('link', { name: '1nce', exact: true }).click();
  await tab.getByRole('heading', { level: 1, name: /1nce ready/ }).waitFor();
  await tab.getByRole('link', { name: 'Profiles' }).click();
  await tab.getByRole('link', { name: 'New profile' }).click();
  await tab.getByLabel('A sample of what it sends').fill(JSON.stringify([usage(1)]));
  await tab.getByLabel('Name of the profile').fill('1nce by number');
  await tab.getByLabel('Expression of ICCID or physicalId').fill(`"${iccid}"`);
  await tab.getByRole('button', { name: 'Add a field' }).click();
  await tab.getByRole('button', { name: 'Remove IMSI' }).click();
  await tab.getByLabel('Volumes are in').selectOption('MB');
  await tab.getByText('1 of 1 would be booked.').waitFor();
  await tab.getByRole('button', { name: 'Save as a new version' }).click();
  await tab.getByRole('heading', { level: 1, name: /1nce by number version 1/ }).waitFor();
  await tab.goto(`${base}/#/sources/named/1nce-run`);
  await tab.getByRole('button', { name: 'Edit' }).click();
  const dialog = tab.getByRole('dialog', { name: 'Edit 1nce-run' });
  await dialog.getByLabel('Profile').selectOption('1nce by number');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await tab.getByRole('link', { name: '1nce by number' }).waitFor();
  await rejects.getByRole('button', { name: 'Read again' }).click();
  await tab.getByText('Read again: 1 accepted.').waitFor();
  await rejects.getByText('No record was rejected.').waitFor();

  await tab.getByRole('link', { name: '1nce by number' }).click();
  await tab.getByText('Read by: 1nce-run.').waitFor();
  await tab.getByLabel('For whom').fill('Cards whose ICCID is missing');
  await tab.getByRole('button', { name: 'Save as a new version' }).click();
  await tab.getByRole('heading', { level: 1, name: /1nce by number version 2/ }).waitFor();
  await tab.getByRole('button', { name: 'Take up version 1' }).click();
  await eventually(() => tab.getByLabel('For whom').inputValue(), '');
  await tab.getByRole('button', { name: 'Reset' }).click();
  await tab.getByRole('button', { name: 'Delete' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Delete the profile' }).click();
  await tab.getByRole('dialog').getByRole('alert').waitFor();
  await tab.getByRole('dialog').getByRole('button', { name: 'Keep it' }).click();

  await tab.goto(`${base}/#/sources/named/1nce-run`);
  await tab.getByRole('button', { name: 'Delete' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Delete the source' }).click();
  await panelOf(tab, 'Carriers and platforms').waitFor();
  await eventually(() => source('1nce-run', 'name'), null, 'the source is deleted');
  assert.equal((await post('[]', next)).status, 401);
});

inTab('usage by source says its bound of 31 days', async (tab) => {
  const { post } = await create('1nce-year');
  assert.equal((await post(JSON.stringify([usage(501)]))).status, 200);
  await enter(tab, `#/subscribers/${subscriber}`);
  const panel = panelOf(tab, 'Usage');
  await panel.getByRole('button', { name: 'A year' }).click();
  await panel.getByText('By source', { exact: true }).click();
  await panel.getByText('Of the last 31 days: usage by source can be read for no longer at once.').waitFor();
  await panel.getByRole('list', { name: 'Usage by source' }).getByText('1nce-year').waitFor();
  await panel.getByRole('button', { name: '7 days' }).click();
  await panel.getByRole('list', { name: 'Usage by source' }).getByText('1nce-year').waitFor();
  await eventually(() => panel.getByText('Of the last 31 days').count(), 0);
  const { groupId } = (await graph('query ($id: String!) { subscriber(by: {physicalId: $id}) { group { groupId } } }', { id: subscriber })).subscriber.group;
  await tab.goto(`${base}/#/groups/${groupId}`);
  await panelOf(tab, 'Usage this billing period').getByText('By source', { exact: true }).click();
  await panelOf(tab, 'Usage this billing period').getByRole('list', { name: 'Usage by source' }).getByText('1nce-year').waitFor();
});

inTab('who may not connect sees no action, and users of groups only no sources', async (tab) => {
  await create('1nce-hidden');
  const sign = async (email, scope) => {
    await graph('mutation ($input: CreateUserInput!) { createUser(input: $input) { user { email } } }', { input: { email, scope, permissions: ['VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER', ...(email.startsWith('groups') ? ['RECORD_USAGE'] : [])] } });
    const { createAccessKey: { secret, accessKey } } = await graph('mutation ($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }', { input: { userEmail: email, scope: { permissions: ['VIEW_STATISTICS_OVERVIEW', 'VIEW_SUBSCRIBER', ...(email.startsWith('groups') ? ['RECORD_USAGE'] : [])] }, lifetimeDays: 1, name: email } });
    const response = await fetch(`${base}/oauth/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials' }), headers: { authorization: `Basic ${Buffer.from(`${accessKey.accessKeyId}:${secret}`).toString('base64')}` } });
    return (await response.json()).access_token;
  };
  const reader = await sign('reader-of-sources@demo.example', { all: true });
  await enter(tab, '#/sources', reader);
  await tab.getByRole('row').filter({ hasText: '1nce-hidden' }).waitFor();
  await eventually(() => tab.getByRole('link', { name: 'Connect', exact: true }).count(), 0);
  await tab.getByRole('link', { name: '1nce-hidden' }).click();
  await tab.getByRole('heading', { level: 1, name: /1nce-hidden/ }).waitFor();
  await panelOf(tab, 'Rejected records').getByText('No record was rejected.').waitFor();
  await eventually(() => tab.getByRole('main').getByRole('button').allTextContents(), []);
  await tab.goto(`${base}/#/sources/profiles/1nce`);
  await tab.getByLabel('Expression of Id of the record').waitFor();
  await eventually(() => tab.getByRole('main').getByRole('button').count(), 0);
  for (const place of ['connect', 'connect/webhook', 'connect/radius']) {
    await tab.goto(`${base}/#/sources/${place}`);
    await tab.getByText(/^Only users of the whole company/).waitFor();
  }

  const { nodes: [{ groupId }] } = (await graph('{ groups(first: 1) { nodes { groupId } } }')).groups;
  const restricted = await sign('groups-of-sources@demo.example', { groupIds: [groupId] });
  await enter(tab, '#/sources', restricted);
  await tab.getByRole('heading', { name: 'Usage by source' }).waitFor();
  await eventually(() => tab.getByText('Carriers and platforms').count(), 0);
  await eventually(() => tab.getByRole('link', { name: 'Connect', exact: true }).count(), 0);
  for (const place of ['named/1nce-hidden', 'profiles', 'profiles/1nce', 'new-profile', 'connect/webhook']) {
    await tab.goto(`${base}/#/sources/${place}`);
    await tab.getByText(/^Only users of the whole company/).waitFor();
  }
});

for (const [name, options] of Object.entries({ light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' }, phone: { viewport: { width: 390, height: 844 } } })) {
  inTab(`connecting is accessible: ${name}`, async (tab) => {
    const { post } = await create(`axe-${name}`);
    await post(JSON.stringify([usage(name.length + 600), { ...usage(700), sim: {} }]));
    const check = async (what) => {
      await accessible(tab, what);
      if (options.viewport) await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth), options.viewport.width, what);
    };
    await enter(tab, '#/sources');
    await tab.getByRole('list', { name: 'Usage by source' }).waitFor();
    await check('the sources');
    for (const [place, heading] of [['connect', 'Connect'], ['connect/radius', 'RADIUS gateway'], ['connect/account', 'Another account'], ['connect/program', 'By program'], ['profiles', 'Sources']]) {
      await tab.goto(`${base}/#/sources/${place}`);
      await tab.getByRole('heading', { level: 1, name: heading }).waitFor();
      await check(place);
    }
    await tab.goto(`${base}/#/sources/named/axe-${name}`);
    await tab.getByRole('button', { name: /^Show the record/ }).waitFor();
    for (const part of ['Address, and a test', 'Send files']) await tab.getByText(part, { exact: true }).click();
    await check('a source');
    await tab.goto(`${base}/#/sources/connect/webhook`);
    await tab.getByLabel('Profile', { exact: true }).selectOption('1nce');
    await tab.getByLabel('A sample of what it sends').fill(streamed(1));
    await tab.getByRole('region', { name: 'Table of the sample' }).waitFor();
    await tab.getByRole('button', { name: 'Change how it is read' }).click();
    await tab.getByRole('button', { name: 'Leave it as it was' }).click();
    await tab.getByRole('button', { name: 'Change how it is read' }).click();
    await check('a mapped sample');
    await tab.getByRole('button', { name: 'Show record 1' }).click();
    await check('a record of a sample');
    await tab.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await tab.getByLabel('Name of the profile').fill(`axe-${name}-own`);
    await tab.getByLabel('Name', { exact: true }).fill(`axe-made-${name}`);
    await tab.getByRole('button', { name: 'Create the source' }).click();
    await tab.getByText('Waiting for the first records').waitFor();
    await check('a source that was made');
  }, options);
}
