// Changes of many subscribers: by a file with lines at fault, watched, and undone.
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before } from 'node:test';
import { base, enter } from './browser.js';
import { root, shell } from './programs.js';
import { accessible, downloaded, eventually, pageTests, pick, setDate } from './tab.js';

const inTab = pageTests();
const size = 20_000;
const id = (n) => String(8_944_200_000_000_000_000n + BigInt(n));

let bearer;
let fresh;

// A company of its own, so that other tests find the fleet that they know.
before(async () => {
  const folder = process.env.SIMGRAPH_DATA_DIR;
  const subscriber = (n) => ({
    type: 'subscriber', company: 'uploads', kind: 'cellular', physicalId: id(n), subscriberId: `u${n}`, dataNumber: null, imsi: '', nickname: '', operatorCode: '23415', tariffName: 'Uploads',
    connectionDate: '2026-01-01T00:00:00Z', expiryDate: '2030-01-01T00:00:00Z', contractLength: 12, isBarred: false, isActive: true, terminateDate: null, groupId: null,
    subscriberType: 'physical', networkState: { isTransferring: false, isOnline: false }, eid: null, smdpProvider: null,
  });
  const bundle = [{ type: 'operator', code: '23415', name: 'Vodafone UK' }, { type: 'tariff', company: 'uploads', name: 'Uploads', lineRental: 50, currency: 'GBP' }, ...Array.from({ length: size }, (_, n) => subscriber(n))];
  await writeFile(join(folder, 'uploads.ndjson'), bundle.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const { stdout } = await shell(root, `
    simgraph company create uploads --name Uploads --data-dir ${folder} >&2
    simgraph company create fresh --name Fresh --data-dir ${folder} >&2
    simgraph import --data-dir ${folder} ${folder}/uploads.ndjson >&2
    simgraph user create uploads@e2e.example --company uploads --key --data-dir ${folder}
    simgraph user create fresh@e2e.example --company fresh --key --data-dir ${folder}`);
  [bearer, fresh] = await Promise.all(stdout.trim().split('\n').map(tokenOf));
});

async function tokenOf(key) {
  const { accessKeyId, secret } = JSON.parse(key);
  const response = await fetch(`${base}/oauth/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials', client_id: accessKeyId, client_secret: secret }) });
  const { access_token: token } = await response.json();
  assert.ok(token, key);
  return token;
}

async function nicknamed() {
  const response = await fetch(`${base}/graphql`, {
    method: 'POST', headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
    body: JSON.stringify({ query: '{ subscribers(first: 0, filter: { nickname: { ne: "" } }) { totalCount } }' }),
  });
  return (await response.json()).data.subscribers.totalCount;
}

/** A file with a line for each subscriber, and which lines of it are at fault. */
function fileOf() {
  const lines = Array.from({ length: size }, (_, n) => `${id(n)};truck ${n};x`);
  const faults = [];
  const spoil = (n, line) => { lines[n] = line; faults.push(n + 2); };
  for (let i = 0; i < 12; i++) spoil(i * 1_500 + 7, '8,94E+18;truck;x');
  for (let i = 0; i < 12; i++) spoil(i * 1_500 + 19, `${id(size + i)};truck;x`);
  for (let i = 0; i < 12; i++) spoil(i * 1_500 + 23, `${id(3)};truck;x`);
  spoil(12_345, `${id(12_345)};truck`);
  return { text: `\ufeffICCID;Nickname;Remarks\r\n${lines.join('\r\n')}\r\n`, faults: faults.sort((a, b) => a - b) };
}

inTab('a file of 20,000 lines is tried, run for those that do not fail, watched and undone', async (tab) => {
  const { text, faults } = fileOf();
  assert.equal(faults.length, 37);
  await enter(tab, '#/operations', bearer);
  await tab.getByText('Nothing has been changed in bulk').waitFor();
  await tab.getByRole('link', { name: 'Change by a file' }).click();
  await tab.getByLabel('CSV file').setInputFiles({ name: 'fleet.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await eventually(() => tab.getByLabel('Field of ICCID').inputValue(), 'physicalId');
  await eventually(() => tab.getByLabel('Field of Nickname').inputValue(), 'nickname');
  await eventually(() => tab.getByLabel('Field of Remarks').inputValue(), '');
  await tab.getByLabel('Reason (optional)').fill('Ticket 4711: names of the fleet');
  await tab.getByRole('button', { name: 'Show what would change' }).click();
  await tab.getByText('20,000 of 20,000').waitFor({ timeout: 60_000 });
  await tab.getByText('Lines fail: mend the file').waitFor();
  await tab.getByLabel('When lines fail').selectOption({ label: 'Change the others when some fail' });
  await tab.getByRole('button', { name: 'Show what would change' }).click();
  await tab.getByText('19,963 would change, 37 failed').waitFor({ timeout: 60_000 });
  await tab.getByRole('heading', { name: '37 results' }).waitFor();
  const { text: failures } = await downloaded(tab, () => tab.getByRole('button', { name: 'Download Results as CSV' }).click());
  const listed = failures.trimEnd().split('\r\n').slice(1).map((line) => line.split(','));
  assert.deepEqual(listed.map(([, line]) => Number(line)), faults);
  assert.ok(listed.every(([, , , outcome, message]) => outcome === 'FAILED' && message), failures);
  assert.equal(await nicknamed(), 0);
  await accessible(tab, 'a dry run of a file');

  await tab.evaluate(() => {
    globalThis.steps = new Set();
    new MutationObserver(() => { const text = document.querySelector('.progress .done')?.textContent; if (location.hash.startsWith('#/operations/0')) globalThis.steps.add(text); })
      .observe(document.body, { subtree: true, childList: true, characterData: true });
  });
  await tab.getByRole('button', { name: 'Change 19,963' }).click();
  await tab.getByText('19,963 changed, 37 failed').waitFor({ timeout: 60_000 });
  await tab.locator('.heading .badge').getByText('done').waitFor();
  const steps = await tab.evaluate(() => [...globalThis.steps]);
  assert.ok(steps.length >= 10, `progress was seen ${steps.length} times: ${steps.join(', ')}`);
  assert.equal(await nicknamed(), 19_963);
  await tab.getByRole('region', { name: 'Progress' }).getByText('Ticket 4711: names of the fleet').waitFor();
  await accessible(tab, 'an operation');
  await tab.getByRole('navigation', { name: 'Outcome' }).getByRole('link', { name: 'Failed' }).click();
  await tab.getByRole('heading', { name: '37 results' }).waitFor();

  await tab.getByLabel('Reason (optional)').fill('the wrong fleet');
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Undo' }).waitFor();
  await tab.getByText('19,963 of 19,963').waitFor({ timeout: 60_000 });
  await tab.locator('.heading .badge').getByText('done').waitFor();
  assert.equal(await nicknamed(), 0);
  await tab.getByRole('link', { name: 'Operations', exact: true }).last().click();
  await tab.getByRole('heading', { name: '4 operations' }).waitFor();
  await accessible(tab, 'operations');

  await enter(tab, `#/subscribers/${id(1)}?tab=history`, bearer);
  const history = tab.getByRole('list', { name: 'What happened, the newest first' });
  await history.getByRole('listitem').nth(1).waitFor();
  await eventually(() => history.getByRole('listitem').nth(0).textContent(), /^ChangeUndo.*nickname: .* → .*, by uploads@e2e\.example.*Reason: the wrong fleet/);
  await eventually(() => history.getByRole('listitem').nth(1).textContent(), /^Change.*nickname: .* → .*, by uploads@e2e\.example.*Reason: Ticket 4711: names of the fleet/);
  await accessible(tab, 'the time line of a subscriber');
  await history.getByRole('link', { name: 'Undo' }).click();
  await tab.waitForURL(/#\/operations\//);
  await tab.getByRole('region', { name: 'Progress' }).getByText('the wrong fleet').waitFor();
});

inTab('a file without a column of subscribers, or that is none, says so', async (tab) => {
  await enter(tab, '#/operations/new', bearer);
  const choose = (text) => tab.getByLabel('CSV file').setInputFiles({ name: 'fleet.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await choose('Truck,Colour\n1,red\n');
  await tab.getByText('One column must be the physicalId.').waitFor();
  await eventually(() => tab.getByRole('button', { name: 'Show what would change' }).isDisabled(), true);
  await choose('physicalId,nickname\n');
  await tab.getByRole('button', { name: 'Show what would change' }).click();
  await tab.getByText('the file has no line beneath its header').waitFor();
  const { text: template } = await downloaded(tab, () => tab.getByRole('button', { name: 'Download a template' }).click());
  assert.match(template, /^physicalId,nickname/);
}, { expected: [/console: Failed to load resource.*400/], viewport: { width: 390, height: 800 } });

inTab('a company without subscribers is shown its first steps, and the first subscriber is added', async (tab) => {
  await enter(tab, '#/', fresh);
  await tab.getByRole('heading', { name: 'First steps' }).waitFor();
  await accessible(tab, 'first steps');
  await tab.getByText(/^\d of 7 done$/).waitFor();
  const ask = (query) => fetch(`${base}/graphql`, { method: 'POST', headers: { authorization: `Bearer ${fresh}`, 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
  await ask('mutation { createTariff(input: { name: "Fresh", lineRental: 100, currency: "GBP" }) { tariff { name } } }');
  await tab.getByRole('link', { name: 'add subscribers' }).click();
  await tab.getByRole('button', { name: 'New subscriber' }).click();
  const dialog = tab.getByRole('dialog');
  const field = (name) => dialog.locator('label').filter({ hasText: new RegExp(`^${name}`) }).locator('input, select');
  await field('ICCID').fill('8944999000000000001');
  await field('MSISDN').fill('447000000001');
  await dialog.getByLabel('Operator, by its code').fill('23415');
  await pick(dialog, 'Tariff', 'Fresh');
  await setDate(dialog, 'Ends', '2030-01-01');
  await accessible(tab, 'a new subscriber');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await tab.getByText('8944999000000000001').first().waitFor();
  await tab.getByRole('button', { name: 'Edit the record' }).click();
  await field('Contract in months').fill('24');
  await field('Reason').fill('a longer contract');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await tab.getByText('24 months').waitFor();
  await tab.getByRole('tab', { name: 'History' }).click();
  await tab.getByRole('listitem').filter({ hasText: 'contractLength: 12 → 24' }).getByText('Reason: a longer contract').waitFor();
  await tab.goto(`${base}/#/groups`);
  await tab.getByRole('button', { name: 'New group' }).click();
  await dialog.getByLabel('Name').fill('Vans');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Vans' }).waitFor();
  await tab.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByLabel('Hide tariffs from its users').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await tab.getByText('without their tariffs').waitFor();
  await tab.getByRole('button', { name: 'Edit', exact: true }).click();
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await tab.getByText('There are no groups.').waitFor();
});

inTab('the first steps stay until they are done or dismissed', async (tab) => {
  const ask = (query) => fetch(`${base}/graphql`, { method: 'POST', headers: { authorization: `Bearer ${fresh}`, 'content-type': 'application/json' }, body: JSON.stringify({ query }) });
  await enter(tab, '#/alerts/new', fresh);
  await tab.getByText('Nobody gets mail yet.').waitFor();
  await tab.goto(`${base}/#/`);
  const panel = tab.getByRole('region', { name: 'First steps' });
  const step = (name) => panel.getByRole('listitem').filter({ hasText: name });
  await step('Bring SIMs in').getByText('done', { exact: true }).waitFor();
  await step('Feed usage').getByText(/^curl http.*"physicalId":"8944999000000000001"/).waitFor();
  await ask('mutation { createRecipient(input: { email: "ops@e2e.example", scope: { all: true } }) { recipient { recipientId } } }');
  await tab.reload();
  await step('Say who gets mail').getByText('done', { exact: true }).waitFor();
  await step('Send a test mail').getByRole('button', { name: 'Send a test mail' }).click();
  await step('Send a test mail').getByText('done', { exact: true }).waitFor();
  await accessible(tab, 'the first steps on the way');
  await panel.getByRole('button', { name: 'Dismiss' }).click();
  await panel.waitFor({ state: 'detached' });
  await tab.reload();
  await tab.locator('.tile').first().waitFor();
  await eventually(() => panel.count(), 0);
});

inTab('a user is added, changed and disabled', async (tab) => {
  await enter(tab, '#/users', fresh);
  await tab.getByRole('button', { name: 'New user' }).click();
  const dialog = tab.getByRole('dialog');
  await dialog.getByLabel('E-mail address').fill('Reader@e2e.example');
  await dialog.getByLabel('View Subscriber').check();
  await dialog.getByText('Choose the whole company, or at least one group.').waitFor();
  await dialog.getByLabel('The whole company').check();
  await dialog.getByLabel('Invite by a link that signs in once').uncheck();
  await accessible(tab, 'a new user');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await tab.getByRole('button', { name: '1 permission', exact: true }).waitFor();
  await tab.getByRole('button', { name: 'Edit reader@e2e.example' }).click();
  await dialog.getByLabel('View Statistics Overview').check();
  await dialog.getByLabel('Disabled: the user cannot sign in').check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await tab.getByRole('button', { name: '2 permissions' }).waitFor();
  await tab.locator('.badge').getByText('disabled').waitFor();
});
