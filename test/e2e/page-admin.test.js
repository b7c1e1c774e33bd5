// The places of those who administer: alerts, recipients, groups, tags, users, keys, audit.
import assert from 'node:assert/strict';
import { base, enter, graph } from './browser.js';
import { accessible, downloaded, eventually, oneSubscriber, pageTests, pick, setDate } from './tab.js';

const inTab = pageTests();
const table = (tab) => tab.locator('table.rows tbody tr[aria-rowindex]');
const alertOf = async (alertId) => (await graph('query($filter: AlertFilter) { alerts(filter: $filter) { nodes { ruleType target ... on VolumeAlert { lowerThreshold upperThreshold } } } }', { filter: { alertId: { eq: alertId } } })).alerts.nodes[0];

inTab('an alert of a group is set after a look at the past, changed, deleted, and kept by undo', async (tab) => {
  const { groups } = await graph('{ groups(first: 1) { nodes { groupId name } } }');
  const [{ groupId, name }] = groups.nodes;
  await enter(tab, '#/alerts');
  await table(tab).first().waitFor();
  await tab.getByRole('link', { name: 'New alert' }).click();
  await tab.getByLabel('Each subscriber of a group').check();
  await pick(tab, 'Group', name);
  await tab.getByLabel('Lower threshold').fill('1 MB');
  await tab.getByLabel('Upper threshold').fill('0.5 MB');
  await tab.getByText('The lower threshold is above the upper one.').waitFor();
  await tab.getByLabel('Upper threshold').fill('5 MB');
  await tab.getByText(/It would have fired .* times in the last three months, for .* subscribers/).waitFor();
  await tab.locator('.back-test .plot canvas').waitFor();
  await tab.getByRole('button', { name: 'Set the alert' }).click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  const alertId = Number(/alerts\/(\d+)/.exec(tab.url())[1]);
  assert.deepEqual(await alertOf(alertId), { ruleType: 'GROUPFPTP', target: String(groupId), lowerThreshold: '1000000', upperThreshold: '5000000' });
  await tab.getByRole('button', { name: 'Change the thresholds' }).click();
  await eventually(() => tab.getByLabel('Lower threshold').inputValue(), '1 MB');
  await tab.getByLabel('Upper threshold').fill('600 TB');
  await tab.getByRole('button', { name: 'Save' }).click();
  await tab.locator('.tile').getByText('600\u00a0TB').waitFor();
  await tab.getByRole('button', { name: 'Delete', exact: true }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Delete the alert' }).click();
  await table(tab).first().waitFor();
  const link = tab.locator(`a[href="#/alerts/${alertId}"]`);
  await eventually(() => link.count(), 0);
  await tab.getByRole('button', { name: 'Undo' }).click();
  await link.waitFor();
  await graph('mutation($id: Int!) { deleteAlert(input: { alertId: $id }) { alert { alertId } } }', { id: alertId });
});

inTab('the log is filtered, shows its mail and comes out as a file', async (tab) => {
  const count = async (filter) => (await graph('query($filter: AlertLogFilter) { alertLog(first: 0, filter: $filter) { totalCount } }', { filter })).alertLog.totalCount;
  await enter(tab, '#/alerts/log');
  await table(tab).first().waitFor();
  await tab.getByRole('navigation', { name: 'Threshold' }).getByRole('link', { name: 'Upper' }).click();
  const upper = await count({ limitBoundary: { eq: 'UPPER' } });
  await tab.getByRole('heading', { name: `Fired ${upper} time${upper === 1 ? '' : 's'}` }).waitFor();
  const { text } = await downloaded(tab, () => tab.getByRole('button', { name: 'Download Alert log as CSV' }).click());
  assert.equal(text.trimEnd().split('\r\n').length, upper + 1);
  await setDate(tab, 'to', '2020-01-01');
  await tab.getByText('Nothing in the log fits.').waitFor();
});

inTab('a condition is set, notices, and is deleted', async (tab) => {
  const { subscribers } = await graph('{ subscribers(first: 1, filter: { dataUsage: { gt: 1000 }, connectionDate: { lt: "2026-01-01T00:00:00Z" }, isActive: { eq: true }, isBarred: { eq: false } }) { nodes { subscriberId physicalId } } }');
  const [{ subscriberId, physicalId }] = subscribers.nodes;
  await enter(tab, '#/alerts/conditions');
  await tab.getByText('Nothing but volume is watched.').waitFor();
  await tab.getByText('Nothing was noticed yet.').waitFor();
  await tab.getByRole('button', { name: 'New condition' }).click();
  const dialog = tab.getByRole('dialog', { name: 'New condition' });
  await dialog.getByLabel('Notice when').selectOption({ label: 'A value changes' });
  await eventually(() => dialog.getByLabel('A group together').count(), 0);
  await dialog.getByLabel('Notice when').selectOption({ label: 'It will use too much' });
  await dialog.getByLabel('More than, in the billing period').fill('much');
  await dialog.getByText('Write a limit such as 500 MB or 1.5 GB.').waitFor();
  await accessible(tab, 'a new condition');
  await dialog.getByLabel('More than, in the billing period').fill('1');
  await dialog.getByLabel('One subscriber').check();
  await dialog.getByText('Choose what it watches.').waitFor();
  await dialog.locator('input[list]').fill(subscriberId);
  await dialog.getByText(/^It would have fired .* in the last four weeks/).waitFor();
  await accessible(tab, 'what a condition would have noticed');
  await dialog.getByRole('button', { name: 'Set the alert' }).click();
  await tab.getByRole('heading', { name: '1 condition', exact: true }).waitFor();
  // It is evaluated within seconds; the page reads again when it is entered.
  for (let tries = 0; (await graph('{ alertLog(first: 0, filter: { kind: { ne: VOLUME } }) { totalCount } }')).alertLog.totalCount === 0; tries++) {
    assert.ok(tries < 600, 'nothing was noticed');
    await tab.waitForTimeout(100);
  }
  await tab.reload();
  await tab.getByText(/^will use \d+ bytes in the billing period/).waitFor();
  await tab.getByRole('region', { name: 'Table of what was noticed' }).locator(`a[href="#/subscribers/${physicalId}"]`).waitFor();
  await accessible(tab, 'conditions');
  await tab.getByRole('link', { name: 'Lasting now' }).click();
  await tab.getByText('Nothing lasts at the moment.').waitFor();
  await tab.getByRole('button', { name: /^Delete the condition/ }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'Delete the condition' }).click();
  await tab.getByText('Nothing but volume is watched.').waitFor();
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tab.getByRole('heading', { name: '1 condition', exact: true }).waitFor();
  const { alerts } = await graph('{ alerts(filter: { kind: { ne: VOLUME } }) { nodes { alertId ... on ConditionAlert { forecastBytes } } } }');
  assert.deepEqual(alerts.nodes.map(({ forecastBytes }) => forecastBytes), ['1']);
  await graph('mutation($id: Int!) { deleteConditionAlert(input: { alertId: $id }) { alert { alertId } } }', { id: alerts.nodes[0].alertId });
});

inTab('a silence covers what fires, is changed and ended, and the bell shows what fires', async (tab) => {
  const { subscribers } = await graph('{ subscribers(first: 1, filter: { dataUsage: { gt: 1000 } }) { nodes { subscriberId physicalId } } }');
  const [{ subscriberId, physicalId }] = subscribers.nodes;
  await enter(tab, '#/alerts/silences');
  await tab.getByText('Nothing is silenced.').waitFor();
  await tab.getByRole('button', { name: 'New silence' }).click();
  const dialog = tab.getByRole('dialog', { name: 'New silence' });
  await dialog.getByText('Write why.').waitFor();
  await dialog.getByLabel('Why').fill('Works of e2e');
  await dialog.getByLabel('Monday').check();
  await dialog.getByLabel('From', { exact: true }).waitFor();
  await dialog.getByLabel('Monday').uncheck();
  await setDate(dialog, 'Ends', '2020-01-01T00:00');
  await dialog.getByText('It must end after it begins.').waitFor();
  await setDate(dialog, 'Ends', `${new Date().getUTCFullYear() + 1}-01-01T00:00`);
  await dialog.getByText('Choose every alert, or something below.').waitFor();
  await eventually(() => dialog.getByRole('button', { name: 'Silence', exact: true }).isDisabled(), true);
  await dialog.getByLabel('Subscribers, by ICCID, device EUI or IMEI').fill(physicalId);
  await accessible(tab, 'a new silence');
  await dialog.getByRole('button', { name: 'Silence', exact: true }).click();
  await tab.getByText('silencing now').waitFor();
  await tab.getByText(`What fits subscriber ${physicalId}`).waitFor();
  await tab.getByRole('list', { name: /^When silences silence/ }).getByRole('img').waitFor();
  await accessible(tab, 'silences');
  const { createAlert } = await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'SIM', target: subscriberId, lowerThreshold: 0, upperThreshold: 1 } });
  const { alertLog } = await graph('query($id: BigInt!) { alertLog(filter: { alertId: { eq: $id } }) { nodes { isSilenced silence { reason } deliveries { state } } } }', { id: createAlert.alert.alertId });
  assert.equal(alertLog.nodes.length, 2);
  for (const { isSilenced, silence, deliveries } of alertLog.nodes) assert.deepEqual([isSilenced, silence.reason, deliveries.filter(({ state }) => state !== 'SILENCED')], [true, 'Works of e2e', []]);
  await tab.reload();
  await tab.getByRole('button', { name: /^Firing now: [1-9]/ }).click();
  const bell = tab.getByRole('dialog', { name: 'Firing now' });
  await bell.getByRole('heading', { name: 'Fired in the last 24 hours' }).waitFor();
  await bell.locator(`a[href="#/subscribers/${physicalId}"]`).first().waitFor();
  await accessible(tab, 'the bell');
  await bell.getByRole('link', { name: /^The log: / }).click();
  await tab.getByRole('region', { name: 'Table of entries of the log' }).waitFor();
  await bell.waitFor({ state: 'hidden' });
  await tab.goto(`${base}/#/alerts/silences`);
  await tab.getByRole('button', { name: 'Change Works of e2e' }).click();
  const change = tab.getByRole('dialog', { name: 'Change the silence' });
  await change.getByLabel('Why').fill('Longer works');
  await change.getByRole('button', { name: 'Save' }).click();
  await tab.getByRole('button', { name: 'End Longer works' }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'End the silence' }).click();
  await tab.getByText('Nothing is silenced.').waitFor();
  await tab.getByRole('heading', { name: 'Past silences' }).waitFor();
  await graph('mutation($id: Int!) { deleteAlert(input: { alertId: $id }) { alert { alertId } } }', { id: createAlert.alert.alertId });
});

inTab('a recipient is added, gets a test mail, is changed and deleted', async (tab) => {
  await enter(tab, '#/alerts/recipients');
  await tab.getByLabel('New recipient').fill('ops@e2e.example');
  await tab.getByRole('button', { name: 'Add' }).click();
  await tab.getByRole('button', { name: 'Send a test mail to ops@e2e.example' }).click();
  await tab.getByRole('list', { name: 'Mail to ops@e2e.example' }).getByText('test mail').waitFor();
  await tab.getByRole('region', { name: 'Table of mails and messages' }).getByText('ops@e2e.example').first().waitFor();
  await tab.getByRole('button', { name: 'Choose alerts for ops@e2e.example' }).click();
  const choice = tab.getByRole('dialog', { name: 'What ops@e2e.example gets' });
  await choice.getByRole('checkbox', { name: 'Every alert' }).uncheck();
  await choice.getByText('Choose every alert, or something below.').waitFor();
  await eventually(() => choice.getByRole('button', { name: 'Save' }).isDisabled(), true);
  for (const name of ['Alerts', 'Groups', 'Groups']) {
    await choice.getByRole('combobox', { name }).fill('');
    await choice.getByRole('combobox', { name }).press('ArrowDown');
    await choice.getByRole('option').first().click();
    await choice.getByRole('combobox', { name }).press('Escape');
  }
  await accessible(tab, 'a choice of alerts');
  await choice.getByRole('button', { name: 'Save' }).click();
  await tab.getByText('Only 1 alert in 2 groups.').waitFor();
  await tab.getByRole('button', { name: 'Change ops@e2e.example' }).click();
  await tab.getByRole('textbox', { name: 'Address' }).fill('noc@e2e.example');
  await tab.keyboard.press('Enter');
  await tab.getByRole('button', { name: 'Delete noc@e2e.example' }).click();
  await tab.getByRole('button', { name: 'Delete the recipient' }).click();
  await tab.getByText('noc@e2e.example gets no more mail.').waitFor();
  await eventually(() => tab.getByRole('list', { name: 'Recipients' }).getByText('noc@e2e.example').count(), 0);
  await tab.reload();
  for (let i = 0; (await graph('{ recipients { nodes { email } } }')).recipients.nodes.some(({ email }) => email === 'noc@e2e.example'); i++) {
    assert.ok(i < 100, 'the recipient is still there');
    await tab.waitForTimeout(100);
  }
});

inTab('a group is renamed, and its sums lead to its lists', async (tab) => {
  const { groups } = await graph('{ groups(first: 2) { nodes { groupId name numberOfSubscribers } } }');
  const { groupId, name, numberOfSubscribers } = groups.nodes[1];
  await enter(tab, '#/groups');
  await tab.getByRole('link', { name, exact: true }).click();
  await tab.locator('.plot canvas').waitFor();
  await tab.getByRole('button', { name: 'Edit', exact: true }).click();
  await tab.getByRole('textbox', { name: 'Name' }).fill(`${name} (e2e)`);
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { level: 1, name: `${name} (e2e)` }).waitFor();
  await graph('mutation($input: EditGroupInput!) { editGroup(input: $input) { group { name } } }', { input: { groupId, name } });
  await tab.getByRole('list', { name: 'The group in numbers' }).getByRole('link', { name: /Subscribers/ }).click();
  await tab.getByRole('heading', { level: 2, name: `${numberOfSubscribers} subscribers` }).waitFor();
});

inTab('a tag leads to its usage and to those who carry it', async (tab) => {
  const { tags } = await graph('{ tags(first: 100) { nodes { name numberOfSubscribers } } }');
  const { name, numberOfSubscribers } = tags.nodes.find((tag) => tag.numberOfSubscribers > 1);
  await enter(tab, '#/tags');
  await tab.getByRole('link', { name, exact: true }).click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  await tab.getByRole('link', { name: `${numberOfSubscribers} subscribers` }).click();
  await tab.getByRole('heading', { level: 2, name: `${numberOfSubscribers} subscribers` }).waitFor();
});

inTab('a key is made for a user, its secret is shown once, and it is revoked', async (tab) => {
  await enter(tab, '#/users');
  await tab.getByRole('row').filter({ hasText: 'partner@demo.example' }).getByRole('button', { name: /permission/ }).click();
  await tab.getByText('View Monitoring Alerts').waitFor();
  await tab.keyboard.press('Escape');
  await tab.getByRole('link', { name: 'Access keys' }).click();
  await tab.getByRole('button', { name: 'New key' }).click();
  const dialog = tab.getByRole('dialog', { name: 'New access key' });
  await dialog.getByLabel('Name', { exact: true }).fill('Reports');
  await pick(dialog, 'User', 'analyst@demo.example');
  await dialog.getByLabel('Days until it ends').fill('3');
  await dialog.getByLabel('View Monitoring Alerts').uncheck();
  await dialog.getByRole('button', { name: 'Make the key' }).click();
  await tab.getByText('it cannot be shown again').waitFor();
  const [id, secret] = await tab.locator('#made-title').locator('xpath=../..').locator('dd').allTextContents();
  const exchange = () => fetch(`${base}/oauth/token`, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret }) });
  assert.equal((await exchange()).status, 200);
  await tab.getByRole('button', { name: 'Done' }).click();
  await eventually(() => tab.getByText(secret).count(), 0);
  const { accessKeys } = await graph('{ accessKeys(first: 100) { nodes { accessKeyId scopes userEmail } } }');
  const { scopes, userEmail } = accessKeys.nodes.find(({ accessKeyId }) => accessKeyId === id);
  assert.ok(userEmail === 'analyst@demo.example' && scopes.includes('VIEW_SUBSCRIBER') && !scopes.includes('VIEW_MONITORING_ALERTS'), scopes.join());
  await tab.getByRole('button', { name: 'Revoke Reports' }).click();
  await tab.getByRole('button', { name: 'Revoke the key' }).click();
  await tab.getByRole('row').filter({ hasText: id }).getByText('revoked').waitFor();
  assert.equal((await exchange()).status, 401);
});

inTab('the audit log is filtered, and an entry shows before and after', async (tab) => {
  const { physicalId, nickname } = await oneSubscriber();
  const rename = (nickname) => graph('mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { nickname } } }', { input: { physicalId, nickname } });
  await rename('audited by e2e');
  await rename(nickname);
  await enter(tab, '#/audit');
  await table(tab).first().waitFor();
  await tab.getByLabel('Action').fill('subscriber.edit');
  await tab.getByLabel('Identifier').fill(physicalId);
  await tab.getByRole('button', { name: 'Filter' }).click();
  await tab.waitForURL(/action=subscriber.edit/);
  await tab.waitForFunction(() => [...document.querySelectorAll('table.rows tbody tr[aria-rowindex]')].every((row) => row.textContent.includes('subscriber.edit')) && !document.querySelector('[aria-busy="true"]'));
  await tab.getByRole('button', { name: 'subscriber.edit' }).first().click();
  const entry = tab.getByRole('dialog');
  await entry.getByRole('cell', { name: 'audited by e2e' }).waitFor();
  await entry.getByRole('cell', { name: nickname, exact: true }).waitFor();
  await entry.getByRole('button', { name: 'Close' }).click();
  const { text } = await downloaded(tab, () => tab.getByRole('button', { name: 'Download Audit as CSV' }).click());
  assert.match(text, /nickname: .*audited by e2e/);
});

inTab('a subscriber shows what fired for it and what was changed of it, and its group leads on', async (tab) => {
  const { alertLog } = await graph('{ alertLog(first: 100, filter: { not: { physicalId: { eq: null } } }) { nodes { subscriber { physicalId nickname group { name } } } } }');
  const { physicalId, nickname, group } = alertLog.nodes.map((entry) => entry.subscriber).find((one) => one?.group);
  const rename = (nickname) => graph('mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { nickname } } }', { input: { physicalId, nickname } });
  await rename('renamed by e2e');
  await rename(nickname);
  await enter(tab, `#/subscribers/${physicalId}?tab=history`);
  const line = tab.getByRole('list', { name: 'What happened, the newest first' });
  await line.getByText(/^Alert/).first().waitFor();
  await line.getByText(/nickname/).first().waitFor();
  await tab.getByRole('link', { name: group.name, exact: true }).click();
  await tab.getByRole('heading', { level: 1, name: group.name }).waitFor();
});

const places = async () => {
  const { groups, tags, alerts } = await graph('{ groups(first: 1) { nodes { groupId } } tags(first: 1) { nodes { name } } alerts(first: 1) { nodes { alertId } } }');
  return ['#/alerts', '#/alerts/log', '#/alerts/conditions', '#/alerts/silences', '#/alerts/webhooks', '#/operations', '#/operations/new', '#/alerts/recipients', '#/alerts/new', `#/alerts/${alerts.nodes[0].alertId}`, '#/groups', `#/groups/${groups.nodes[0].groupId}`, '#/tags', `#/tags/${encodeURIComponent(tags.nodes[0].name)}`, '#/users', '#/users/keys', '#/users/documents', '#/usage', '#/audit'];
};

for (const [colorScheme, width] of [['light', 1440], ['dark', 390]])
  inTab(`the places of those who administer are used without seeing or pointing, ${width} wide in ${colorScheme} colours`, async (tab) => {
    await enter(tab);
    for (const place of await places()) {
      await tab.goto(`${base}/${place}`);
      await tab.locator('.panel').first().waitFor();
      await tab.waitForFunction(() => !document.querySelector('.waiting, .loading, [aria-busy="true"]'));
      await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth), width, place);
      await accessible(tab, place);
    }
  }, { colorScheme, viewport: { width, height: 844 } });

inTab('a user without the permissions reads what is missing', async (tab) => {
  const { createAccessKey: { secret, accessKey } } = await graph('mutation($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }', { input: { userEmail: 'recorder@demo.example', scope: { permissions: ['RECORD_USAGE'] }, lifetimeDays: 1 } });
  const response = await fetch(`${base}/oauth/token`, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded' }, body: new URLSearchParams({ grant_type: 'client_credentials', client_id: accessKey.accessKeyId, client_secret: secret }) });
  const { access_token } = await response.json();
  await enter(tab, '#/alerts/log', access_token);
  for (const place of ['#/alerts', '#/alerts/log', '#/alerts/conditions', '#/alerts/silences', '#/alerts/webhooks', '#/alerts/recipients', '#/alerts/new', '#/alerts/1', '#/groups', '#/groups/1', '#/tags', '#/tags/fleet', '#/users', '#/users/keys', '#/users/documents', '#/usage', '#/audit', '#/subscribers']) {
    await tab.goto(`${base}/${place}`);
    await tab.locator('.empty').filter({ hasText: 'You need the permission' }).waitFor();
    await eventually(() => tab.getByRole('alert').count(), 0, place);
  }
});
