// Subscribers that a file creates: from the template to the undo, in the browser alone.
import assert from 'node:assert/strict';
import { before } from 'node:test';
import { base, enter } from './browser.js';
import { root, shell } from './programs.js';
import { accessible, countClicks, downloaded, pageTests } from './tab.js';

const inTab = pageTests();
const id = (n) => String(8_944_600_000_000_000_000n + BigInt(n));

let bearer;

// A company of its own with an operator of the service, and nothing else that a person did not add.
before(async () => {
  const folder = process.env.SIMGRAPH_DATA_DIR;
  const { stdout } = await shell(root, `
    simgraph company create newcomers --name Newcomers --data-dir ${folder} >&2
    simgraph operator set 23415 'Vodafone UK' --data-dir ${folder} >&2
    simgraph user create newcomers@e2e.example --company newcomers --key --data-dir ${folder}`);
  const { accessKeyId, secret } = JSON.parse(stdout.trim());
  const response = await fetch(`${base}/oauth/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials', client_id: accessKeyId, client_secret: secret }) });
  bearer = (await response.json()).access_token;
  await ask('mutation { createTariff(input: { name: "IoT, 50 MB", lineRental: 100, currency: "GBP" }) { tariff { name } } }');
  await ask('mutation { createGroup(input: { groupId: 1, name: "Vans" }) { group { groupId } } }');
  await ask('mutation { createGroup(input: { groupId: 2, name: "Boats" }) { group { groupId } } }');
});

async function ask(query) {
  const response = await fetch(`${base}/graphql`, { method: 'POST', headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
  const { data, errors } = await response.json();
  assert.equal(errors, undefined, JSON.stringify(errors));
  return data;
}

const fleet = async () => (await ask('{ subscribers(first: 0) { totalCount } }')).subscribers.totalCount;

/** Fills the template in: a line for each SIM, below its notes. */
function filled(template, rows) {
  const header = template.split('\r\n')[0].split(',');
  const line = (row) => header.map((name) => row[name] ?? '').join(',');
  return { name: 'sims.csv', mimeType: 'text/csv', buffer: Buffer.from(`${template}${rows.map(line).join('\r\n')}\r\n`) };
}

const sim = (n) => ({
  physicalId: id(n), subscriberId: `4477009${String(n).padStart(5, '0')}`, operatorCode: '23415', tariffName: '"IoT, 50 MB"', contractLength: 24,
  connectionDate: '2026-11-01', expiryDate: '2028-11-01', groupId: 1, nickname: `Van ${n}`,
});

const sims = (from, to) => Array.from({ length: to - from }, (_, n) => sim(from + n));

inTab('50 SIMs are added by the template in five clicks; one file then creates, edits and moves, and is undone', async (tab) => {
  await enter(tab, '#/operations', bearer);
  const clicks = await countClicks(tab);
  await tab.getByRole('link', { name: 'Change by a file' }).click();
  const { text: template } = await downloaded(tab, () => tab.getByRole('button', { name: 'Download a template' }).click());
  for (const note of ['# tariffName,"IoT, 50 MB"', '# groupId,1,Vans', '# groupId,2,Boats']) assert.ok(template.includes(`${note}\r\n`), template);
  const choose = (rows) => tab.getByLabel('CSV file').setInputFiles(filled(template, rows));
  const creates = tab.getByLabel('Create subscribers that do not exist');
  const look = tab.getByRole('button', { name: 'Show what would change' });

  await choose(sims(0, 50));
  await creates.check();
  await look.click();
  await tab.getByText('50 would be created').waitFor();
  assert.equal(await fleet(), 0);
  await accessible(tab, 'a dry run that creates');
  await tab.getByRole('button', { name: 'Create 50', exact: true }).click();
  await tab.locator('.heading .badge').getByText('done').waitFor();
  await tab.getByText('50 created').waitFor();
  assert.equal(await fleet(), 50);
  assert.equal(await clicks(), 5);
  await tab.getByRole('navigation', { name: 'Outcome' }).getByRole('link', { name: 'Created' }).click();
  await tab.getByRole('heading', { name: '50 results' }).waitFor();
  await tab.getByRole('link', { name: id(0) }).click();
  await tab.getByRole('heading', { level: 1, name: 'Van 0' }).waitFor();

  // A file creates nothing unless it should. What lacks something says what; the others go on.
  await tab.goto(`${base}/#/operations/new`);
  await choose([sim(60)]);
  await look.click();
  await tab.getByText('0 would change, 1 failed').waitFor();
  await tab.getByText('it is created only where the operation says create').waitFor();
  const { operatorCode: _, ...lacking } = sim(61);
  await choose([{ physicalId: id(0), nickname: 'Edited' }, { physicalId: id(1), groupId: 2 }, sim(60), lacking]);
  await creates.check();
  await tab.getByLabel('When lines fail').selectOption({ label: 'Change the others when some fail' });
  await look.click();
  await tab.getByText('1 would be created, 2 would change, 1 failed').waitFor();
  await tab.getByText('to create it the row lacks operatorCode').waitFor();
  await tab.getByRole('button', { name: 'Create 1, change 2' }).click();
  await tab.locator('.heading .badge').getByText('done').waitFor();
  await tab.getByText('1 created, 2 changed, 1 failed').waitFor();
  assert.equal(await fleet(), 51);
  // The operators of a template are those that the company has.
  await tab.goto(`${base}/#/operations/new`);
  const { text: later } = await downloaded(tab, () => tab.getByRole('button', { name: 'Download a template' }).click());
  assert.match(later, /# operatorCode,23415,/);
  await tab.goBack();
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Undo' }).waitFor();
  await tab.getByText('2 changed, 1 removed').waitFor();
  assert.equal(await fleet(), 50);
  await accessible(tab, 'an undo that removes');

  // The first file is undone but for what was used since.
  const [startedAt, endedAt] = [60_000, 0].map((ago) => new Date(Date.now() - ago).toISOString());
  await ask(`mutation { recordUsage(input: { records: [{ recordId: "first", source: "e2e", physicalId: "${id(7)}", startedAt: "${startedAt}", endedAt: "${endedAt}", mobileOriginated: 1, mobileTerminated: 2 }] }) { results { status } } }`);
  await tab.getByRole('link', { name: 'Operations', exact: true }).last().click();
  await tab.getByRole('row').filter({ hasText: '50 created' }).getByRole('link').click();
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Undo' }).waitFor();
  await tab.getByText('49 removed, 1 skipped').waitFor();
  await tab.getByRole('navigation', { name: 'Outcome' }).getByRole('link', { name: 'Skipped' }).click();
  await tab.getByText('the subscriber has usage since it was created, and stays').waitFor();
  assert.equal(await fleet(), 1);
});

inTab('5,000 SIMs are added by the same file', async (tab) => {
  await enter(tab, '#/operations/new', bearer);
  const { text: template } = await downloaded(tab, () => tab.getByRole('button', { name: 'Download a template' }).click());
  await tab.getByLabel('CSV file').setInputFiles(filled(template, sims(1_000, 6_000)));
  await tab.getByLabel('Create subscribers that do not exist').check();
  await tab.getByRole('button', { name: 'Show what would change' }).click();
  await tab.getByText('5,000 would be created').waitFor({ timeout: 120_000 });
  const had = await fleet();
  await tab.getByRole('button', { name: 'Create 5,000', exact: true }).click();
  await tab.getByText('5,000 created').waitFor({ timeout: 120_000 });
  await tab.locator('.heading .badge').getByText('done').waitFor({ timeout: 120_000 });
  assert.equal(await fleet(), had + 5_000);
});
