// The page for people, as they use it.
import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { base, enter, graph, openTab, token } from './browser.js';
import { shell } from './programs.js';
import { accessible, browserOf, downloaded, eventually, example, focused, oneSubscriber, openExample, pageTests, runQuery } from './tab.js';

const inTab = pageTests();

inTab('a visitor opens the demo company without reading anything', async (tab) => {
  await tab.goto(base);
  await tab.getByRole('button', { name: 'Open the demo company' }).click();
  await tab.locator('.account-button').waitFor();
  await tab.getByRole('heading', { level: 1 }).waitFor();
  const { company } = await graph('{ company { name fleet { total } } }');
  await eventually(() => tab.getByRole('heading', { level: 1 }).textContent(), company.name);
  const tile = tab.locator('.tile.total strong');
  await tile.filter({ hasText: company.fleet.total.toLocaleString('en') }).waitFor();
});

inTab('an access key signs in, a wrong secret is explained in words, and revoking ends the session', async (tab) => {
  const { viewer } = await graph('{ viewer { email } }');
  const made = await graph('mutation($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }', { input: { userEmail: viewer.email, scope: { all: true }, lifetimeDays: 1 } });
  const { secret, accessKey: { accessKeyId } } = made.createAccessKey;
  await tab.goto(base);
  await tab.getByLabel('Access key', { exact: true }).fill(accessKeyId);
  await tab.getByLabel('Secret').fill('wrong');
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByRole('alert').filter({ hasText: 'unknown, revoked or expired' }).waitFor();
  await tab.getByLabel('Secret').fill(secret);
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.locator('.account-button').waitFor();
  await graph('mutation($id: String!) { revokeAccessKey(input: {accessKeyId: $id}) { accessKey { revokedAt } } }', { id: accessKeyId });
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  // What is read next ends the session: the list, or the counts of a fleet that has changed meanwhile.
  const ended = tab.getByRole('dialog', { name: 'The session has ended' });
  if (!(await ended.isVisible())) await tab.getByRole('link', { name: 'Subscribers', exact: true }).first().click({ timeout: 5_000 }).catch(() => undefined);
  await ended.waitFor();
}, { expected: [/console: Failed to load resource.*401/] });

inTab('a token in the address is taken once and kept nowhere', async (tab) => {
  await tab.goto(`${base}/#token=${token}`);
  await tab.locator('.account-button').waitFor();
  const kept = await tab.evaluate(() => ({ address: location.href, session: JSON.stringify(sessionStorage), local: JSON.stringify(localStorage), cookies: document.cookie }));
  assert.equal(kept.address, `${base}/`);
  assert.ok(!JSON.stringify(kept).includes(token));
  assert.equal(kept.cookies, '', 'the page reads the cookie of the session');
  await tab.goBack().catch(() => undefined);
  await eventually(() => tab.url().includes(token), false);
});

inTab('the overview needs little, and the editor comes when it is opened', async (tab, { received }) => {
  await enter(tab);
  await tab.locator('#usage-title').waitFor();
  await tab.locator('.plot canvas').waitFor();
  assert.ok(!received.names.some((name) => /monaco|Explore|swagger/.test(name)), received.names.join(' '));
  assert.ok(received.bytes < 160_000, `${received.bytes} bytes: ${received.names.join(' ')}`);
  await tab.getByRole('link', { name: 'Explore' }).click();
  await example(tab, /^Fleet overview/);
  assert.ok(received.bytes < 1_900_000, `${received.bytes} bytes: ${received.names.join(" ")}`);
});

inTab("last month's top talkers come out as CSV in three clicks", async (tab) => {
  await enter(tab, '#/explore');
  await example(tab, /^Top talkers/);
  await tab.getByRole('button', { name: 'Last month', exact: true }).click();
  await tab.locator('.result .bars li').first().waitFor();
  const { name, text } = await downloaded(tab, () => tab.getByRole('button', { name: 'CSV' }).click());
  const lines = text.trimEnd().split('\r\n');
  assert.match(name, /^toptalkers-.*\.csv$/);
  assert.equal(lines[0], 'subscriber.nickname,subscriber.physicalId,mobileTerminated,mobileOriginated,total');
  assert.ok(lines.length > 5);
  const totals = lines.slice(1).map((line) => Number(line.split(',').at(-1)));
  assert.deepEqual(totals, [...totals].sort((a, b) => b - a));
});

inTab('usage over time is drawn, as a table too, and another range is one click', async (tab) => {
  await enter(tab, '#/explore');
  await example(tab, /^Usage over time/);
  await tab.locator('.result .plot canvas').waitFor();
  await tab.getByRole('button', { name: 'Table' }).click();
  const rows = await tab.locator('.result tbody tr').count();
  await tab.getByRole('button', { name: '7 days' }).click();
  await tab.waitForFunction((before) => document.querySelectorAll('.result tbody tr').length < before, rows);
  const { text } = await downloaded(tab, () => tab.getByRole('button', { name: 'JSON' }).click());
  const { series } = JSON.parse(text).company.usage;
  // Today is among them once its first hour is complete.
  assert.ok(series.length >= 6, JSON.stringify(series));
});

inTab('a query is built by clicks alone', async (tab) => {
  await enter(tab, '#/explore');
  await tab.locator('.graphiql-query-editor .view-lines').waitFor();
  await tab.getByRole('button', { name: 'New tab' }).click();
  await tab.getByRole('button', { name: 'Show GraphiQL Explorer' }).click();
  await tab.locator('.graphiql-explorer-root').getByText('company', { exact: true }).first().click();
  await tab.locator('.graphiql-explorer-root').getByText('billingDay', { exact: true }).click();
  await tab.locator('.graphiql-execute-button').click();
  await tab.locator('.result').getByText(/ms/).waitFor();
  await tab.locator('.result-window').getByText('billingDay').waitFor();
});

inTab('a query without a name runs as soon as it is written over one with a name', async (tab) => {
  await enter(tab, '#/explore');
  await openExample(tab, /^Fleet overview/);
  await tab.locator('.graphiql-query-editor').getByText('FleetOverview').waitFor();
  await tab.locator('.graphiql-query-editor .view-lines').click();
  await tab.keyboard.press('ControlOrMeta+A');
  await tab.keyboard.press('Delete');
  await Promise.all([tab.keyboard.insertText('{ company { billingDay } }'), tab.keyboard.press('ControlOrMeta+Enter')]);
  await tab.locator('.result-window').getByText('billingDay').waitFor();
});

inTab('an error is shown as people read it', async (tab) => {
  await enter(tab, '#/explore');
  await runQuery(tab, '{ company { nam } }');
  await tab.locator('.result .failure').filter({ hasText: 'The query does not fit the schema' }).waitFor();
}, { expected: [/console: Failed to load resource.*400/] });

inTab('a shared link opens the query for another, without the token', async (tab) => {
  await enter(tab, '#/explore');
  await example(tab, /^Usage by protocol/);
  await tab.getByRole('button', { name: /Copy a link/ }).click();
  await tab.getByText('Link copied').waitFor();
  const link = await tab.evaluate(() => navigator.clipboard.readText());
  assert.ok(link.startsWith(`${base}/#/explore?query=`) && !link.includes(token), link);
  const other = await openTab(browserOf(tab));
  try {
    await enter(other.tab, new URL(link).hash);
    await other.tab.locator('.graphiql-query-editor').getByText('UsageByProtocol').waitFor();
    assert.deepEqual(other.faults, []);
  } finally {
    await other.close();
  }
});

inTab('a subscriber is found by keyboard, named and tagged', async (tab) => {
  const { physicalId, nickname } = await oneSubscriber();
  await enter(tab);
  await tab.getByRole('combobox', { name: 'Search subscribers' }).focus();
  await tab.keyboard.type(physicalId);
  await tab.getByRole('option').first().waitFor();
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { level: 1 }).filter({ hasText: nickname }).waitFor();
  await tab.locator('.plot canvas').waitFor();

  await tab.getByRole('button', { name: 'Edit the nickname' }).click();
  const name = `tried at ${Date.now()}`;
  await tab.getByLabel('Nickname').fill(name);
  await tab.keyboard.press('Enter');
  await tab.getByRole('heading', { level: 1 }).filter({ hasText: name }).getByRole('button', { name: 'Edit the nickname' }).waitFor();

  const tags = tab.getByRole('list', { name: 'Tags of the subscriber' });
  const reason = tab.getByRole('region', { name: 'Tags' }).getByLabel('Reason (optional)');
  await reason.fill('Ticket 4712: tried on');
  await tab.getByLabel('New tag').fill('tried');
  await tab.keyboard.press('Enter');
  await tags.getByText('tried', { exact: true }).waitFor();
  const read = () => graph('query($id: String!) { subscriber(by: {physicalId: $id}) { nickname tags(limit: 100) { name } } }', { id: physicalId });
  let { subscriber } = await read();
  assert.equal(subscriber.nickname, name);
  assert.ok(subscriber.tags.some(({ name }) => name === 'tried'));
  await eventually(() => reason.inputValue(), '');
  await reason.fill('Ticket 4712: tried off');
  await tab.getByRole('button', { name: 'Take off the tag tried' }).click();
  await tags.getByText('tried', { exact: true }).waitFor({ state: 'detached' });
  ({ subscriber } = await read());
  assert.ok(!subscriber.tags.some(({ name }) => name === 'tried'));
  const { auditLog } = await graph('{ auditLog(first: 2, filter: {subjectType: {eq: "Tag"}, subjectId: {eq: "tried"}}) { nodes { reason } } }');
  assert.deepEqual(auditLog.nodes.map(({ reason }) => reason), ['Ticket 4712: tried off', 'Ticket 4712: tried on']);
  await tab.getByRole('tab', { name: 'History' }).click();
  const happened = tab.getByRole('list', { name: 'What happened, the newest first' });
  const entry = (title) => happened.getByRole('listitem').filter({ has: tab.getByRole('link', { name: title, exact: true }) }).first();
  for (const [title, why] of [['Tag put on: tried', 'tried on'], ['Tag taken off: tried', 'tried off']]) await entry(title).getByText(`Reason: Ticket 4712: ${why}`).waitFor();
  await entry('Tag taken off: tried').getByRole('link').click();
  await tab.waitForURL(/#\/audit\?/);
  await tab.getByRole('cell', { name: 'tag.detach' }).first().waitFor();
});

inTab('an alert is set with a look at the past, and an alert that fires appears by itself', async (tab) => {
  const { physicalId, subscriberId } = await oneSubscriber();
  await enter(tab, `#/subscribers/${physicalId}`);
  await tab.getByRole('tab', { name: 'Alerts' }).click();
  await tab.getByRole('button', { name: 'Set an alert' }).click();
  await tab.getByLabel(/Lower threshold/).fill('1 MB');
  await tab.getByLabel(/Upper threshold/).fill('900 TB');
  await tab.getByText(/would have fired (once|\d+ times)/).waitFor();
  await tab.getByRole('button', { name: 'Set the alert' }).click();
  await tab.locator('.watchers').getByText('Upper 900\u00a0TB').first().waitFor();

  await tab.getByRole('link', { name: 'Overview' }).click();
  await tab.locator('.entries li').first().waitFor();
  await tab.getByText('live', { exact: true }).waitFor();
  const kilobytes = 101 + Math.floor(Math.random() * 899); // another one than in the last run
  const made = await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'SIM', target: subscriberId, lowerThreshold: String(kilobytes * 1000), upperThreshold: '900000000000000' } });
  await tab.locator('.entries li').first().getByText(`above ${kilobytes}\u00a0kB`).waitFor();
  await graph('mutation($id: Int!) { deleteAlert(input: {alertId: $id}) { alert { alertId } } }', { id: made.createAlert.alert.alertId });
});

inTab('mail to a refused address is shown as suppressed, and is sent again by one click', async (tab) => {
  await enter(tab);
  const panel = tab.getByRole('region', { name: 'Mail to 1 recipient is suppressed' });
  await panel.getByText('550 5.1.1 no such user').waitFor();
  await panel.getByRole('button', { name: 'Send again to refused@demo.example' }).click();
  await tab.getByText('refused@demo.example gets mail again').waitFor();
  await eventually(() => focused(tab), /^p refused@demo.example gets mail again/);
  const { recipients } = await graph('{ recipients(first: 100) { nodes { email suppressedSince } } }');
  assert.deepEqual(recipients.nodes.filter(({ suppressedSince }) => suppressedSince), []);
});

inTab('live events come into the chart of the editor, until stopped', async (tab) => {
  const { subscriberId } = await oneSubscriber();
  await enter(tab, '#/explore');
  await tab.locator('.monaco-editor').first().waitFor();
  await tab.getByRole('button', { name: /^Alerts as they fire/ }).click();
  await tab.locator('.result').getByText('0 events · live').waitFor();
  await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'SIM', target: subscriberId, lowerThreshold: '7654321', upperThreshold: '900000000000000' } });
  await tab.locator('.result').getByText(/1 events? · live/).waitFor();
  await tab.locator('.graphiql-execute-button').click();
  await tab.locator('.result').getByText(/1 events? · ended/).waitFor();
});

inTab('the REST contract is shown and tried with the session', async (tab) => {
  await enter(tab);
  await tab.locator('.tile').first().waitFor();
  await tab.getByRole('link', { name: 'REST' }).click();
  const tags = tab.locator('#operations-tag-listTags');
  await tags.locator('.opblock-summary-control').click();
  await tags.getByText('Needs the permissions: View Subscriber.').waitFor();
  await tags.getByRole('button', { name: 'Try it out' }).click();
  await tags.getByRole('button', { name: 'Execute' }).click();
  await tags.locator('.live-responses-table .response-col_status').filter({ hasText: '200' }).waitFor();
  await eventually(() => tags.locator('.curl-command').innerText().then((text) => text.includes('-H "Authorization: Bearer $TOKEN"')), true, 'the copied command has no token');
  // The examples of the parameters are filled in, among them a filter with quotes.
  const subscribers = tab.locator('[id^="operations-"][id$="-listSubscribers"]');
  await subscribers.locator('.opblock-summary-control').click();
  await subscribers.getByRole('button', { name: 'Try it out' }).click();
  await subscribers.getByRole('button', { name: 'Execute' }).click();
  await subscribers.locator('.live-responses-table .response-col_status').filter({ hasText: '200' }).waitFor();
  for (const operation of [tags, subscribers]) {
    const command = await operation.locator('.curl-command .curl').innerText();
    const { stdout } = await shell(tmpdir(), command, { TOKEN: process.env.SIMGRAPH_TOKEN });
    assert.ok(Array.isArray(JSON.parse(stdout).content), `${command}\n${stdout}`);
  }
});

for (const colorScheme of ['light', 'dark']) {
  inTab(`people who cannot see or point find their way, in ${colorScheme} colours`, async (tab) => {
    const { physicalId } = await oneSubscriber();
    await tab.goto(base);
    await tab.getByRole('button', { name: 'Sign in' }).waitFor();
    await accessible(tab, 'signing in');
    await enter(tab);
    await tab.locator('.plot canvas').waitFor();
    await tab.locator('.bars li').first().waitFor();
    await accessible(tab, 'the overview');
    await tab.goto(`${base}/#/subscribers`);
    await tab.locator('table.rows tr').nth(3).waitFor();
    await accessible(tab, 'the list');
    await tab.goto(`${base}/#/subscribers/${physicalId}`);
    await tab.locator('.plot canvas').waitFor();
    await accessible(tab, 'a subscriber');
    await tab.getByRole('tab', { name: 'Alerts' }).click();
    await tab.getByRole('button', { name: 'Set an alert' }).click();
    await accessible(tab, 'the alerts of a subscriber');
    await tab.goto(`${base}/#/explore`);
    await example(tab, /^Top talkers/);
    await accessible(tab, 'the editor', ['.monaco-editor', '.graphiql-container > .graphiql-main .graphiql-tabs']);
    await tab.goto(`${base}/docs/clients`);
    await tab.getByRole('heading', { level: 1 }).waitFor();
    await accessible(tab, 'the page about clients');
  }, { colorScheme });
}

inTab('nothing is cut off on a phone', async (tab) => {
  const { physicalId } = await oneSubscriber();
  await enter(tab);
  for (const place of ['#/', '#/subscribers', `#/subscribers/${physicalId}`, '#/explore', 'docs/clients']) {
    await tab.goto(`${base}/${place}`);
    await tab.locator('.panel, .graphiql-execute-button, .prose h2').first().waitFor();
    await new Promise((resolve) => setTimeout(resolve, 1_500)); // what comes later may be wider
    await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth), 390, place);
  }
}, { viewport: { width: 390, height: 844 } });
