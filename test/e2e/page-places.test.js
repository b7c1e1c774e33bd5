// Places of the page: addresses, Back, the focus, deleting and undoing.
import assert from 'node:assert/strict';
import { base, enter, graph, token } from './browser.js';
import { eventually, focused, oneSubscriber, pageTests, scrollToRow } from './tab.js';

const inTab = pageTests();

inTab('the address that the server prints opens the overview', async (tab) => {
  await tab.goto(`${base}/#token=${token}`);
  await tab.locator('.tile').first().waitFor();
  await eventually(() => new URL(tab.url()).hash, '');
  await eventually(() => tab.getByRole('heading', { name: 'There is no such place' }).count(), 0);
});

inTab('an address that leads nowhere says so', async (tab) => {
  await enter(tab);
  for (const place of ['#/subscribers/50%', '#/nowhere', '#/subscribers/1/2', '#/explore/x']) {
    await tab.goto(`${base}/${place}`);
    await tab.getByRole('heading', { name: 'There is no such place' }).waitFor();
    await tab.getByText(place, { exact: true }).waitFor();
  }
  await tab.getByRole('main').getByRole('link', { name: 'overview' }).click();
  await tab.locator('.tile').first().waitFor();
});

inTab('Back leads to the row of a list that was opened', async (tab) => {
  await enter(tab, '#/subscribers?order=DATA_USAGE.DESC');
  await tab.locator('table.rows tbody a').first().waitFor();
  const list = tab.getByRole('region', { name: 'Table of subscribers' });
  await scrollToRow(tab, list, 204);
  const far = tab.locator('tr[aria-rowindex="205"] a').first();
  await far.waitFor();
  const name = await far.textContent();
  await far.click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  await tab.goBack();
  await tab.locator('tr[aria-rowindex="205"]').getByText(name, { exact: true }).waitFor();
  await tab.getByRole('link', { name: 'Barred' }).click();
  await tab.waitForURL(/state=barred/);
  await tab.waitForURL(/order=DATA_USAGE.DESC/);
});

inTab('the focus goes to what a change of the place shows', async (tab) => {
  await enter(tab);
  await tab.locator('.tile').first().waitFor();
  await tab.getByRole('link', { name: 'Subscribers', exact: true }).first().focus();
  await tab.keyboard.press('Enter');
  await tab.locator('table.rows').waitFor();
  await eventually(() => focused(tab), 'main Subscribers');
  await tab.locator('table.rows tbody a').first().focus();
  await tab.keyboard.press('Enter');
  await tab.locator('#facts-title').waitFor();
  await eventually(() => focused(tab), /^main Subscriber /);
});

inTab('the focus returns from forms and dialogs to what opened them', async (tab) => {
  const { physicalId } = await oneSubscriber();
  await enter(tab, `#/subscribers/${physicalId}`);
  await tab.getByRole('button', { name: 'Edit the nickname' }).click();
  await tab.getByLabel('Nickname').press('Escape');
  await eventually(() => focused(tab), 'button Edit the nickname');
  await tab.keyboard.press('Enter');
  await tab.getByLabel('Nickname').press('Enter');
  await tab.getByRole('button', { name: 'Edit the nickname' }).waitFor();
  await eventually(() => focused(tab), 'button Edit the nickname');

  await tab.getByRole('tab', { name: 'Alerts' }).click();
  await tab.getByRole('button', { name: 'Set an alert' }).click();
  await tab.getByLabel(/Lower threshold/).waitFor();
  await eventually(() => focused(tab), /^input/);
  await tab.getByRole('button', { name: 'Cancel' }).click();
  await eventually(() => focused(tab), 'button Set an alert');

  const account = tab.locator('.account-button');
  await account.click();
  await tab.getByRole('button', { name: 'Sign out' }).focus();
  await tab.keyboard.press('Escape');
  await eventually(() => account.evaluate((element) => element === document.activeElement), true);
});

const alertsOf = async (physicalId) => (await graph('query($id: String!) { subscriber(by: {physicalId: $id}) { alerts { alert { alertId } } } }', { id: physicalId })).subscriber.alerts.map(({ alert }) => alert.alertId);

async function newAlert(subscriberId) {
  const { createAlert } = await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'SIM', target: subscriberId, lowerThreshold: '800000000000000', upperThreshold: '900000000000000' } });
  return createAlert.alert.alertId;
}

inTab('deleting an alert asks, and can be undone', async (tab) => {
  const { physicalId, subscriberId } = await oneSubscriber();
  const alertId = await newAlert(subscriberId);
  await enter(tab, `#/subscribers/${physicalId}?tab=alerts`);
  const button = tab.getByRole('button', { name: `Delete alert ${alertId}` });
  const dialog = tab.getByRole('dialog', { name: 'Delete this alert?' });
  await button.click();
  await dialog.getByText('more than 800\u00a0TB or 900\u00a0TB').waitFor();
  await dialog.getByRole('button', { name: 'Keep it' }).click();
  await dialog.waitFor({ state: 'detached' });
  await eventually(() => focused(tab), `button Delete alert ${alertId}`);

  await button.click();
  await dialog.getByRole('button', { name: 'Delete the alert' }).click();
  await button.waitFor({ state: 'detached' });
  await eventually(() => focused(tab), 'ul Alerts of the subscriber');
  await tab.getByRole('button', { name: 'Undo' }).click();
  await button.waitFor();
  assert.ok((await alertsOf(physicalId)).includes(alertId));

  // Without undo it is deleted: at once when the page is left.
  await button.click();
  await dialog.getByRole('button', { name: 'Delete the alert' }).click();
  await button.waitFor({ state: 'detached' });
  await tab.reload();
  await tab.locator('#alerts-title').waitFor();
  for (let i = 0; (await alertsOf(physicalId)).includes(alertId); i++) {
    assert.ok(i < 50, 'the alert is still there');
    await tab.waitForTimeout(100);
  }
});

inTab('a tag that was taken off is put back by undo', async (tab) => {
  const { physicalId } = await oneSubscriber();
  await graph('mutation($input: AttachTagInput!) { attachTag(input: $input) { attached } }', { input: { tagName: 'undone', physicalIds: [physicalId] } });
  await enter(tab, `#/subscribers/${physicalId}`);
  const tags = tab.getByRole('list', { name: 'Tags of the subscriber' });
  await tab.getByRole('button', { name: 'Take off the tag undone' }).click();
  await tags.getByText('undone', { exact: true }).waitFor({ state: 'detached' });
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tags.getByText('undone', { exact: true }).waitFor();
  await graph('mutation($input: DetachTagInput!) { detachTag(input: $input) { subscribers { physicalId } } }', { input: { tagName: 'undone', physicalIds: [physicalId] } });
});

inTab('the handbook is one click away, and its page about clients another', async (tab) => {
  await enter(tab);
  await tab.getByRole('link', { name: 'Handbook' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor();
  await tab.getByRole('navigation', { name: 'Handbook' }).getByRole('link', { name: 'Clients' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Clients' }).waitFor();
  await tab.getByRole('heading', { level: 2, name: 'Apollo Client' }).waitFor();
  await tab.getByRole('group', { name: 'apollo.mjs' }).getByText('relayStylePagination').first().waitFor();
  await tab.getByRole('link', { name: 'Clients' }).and(tab.locator('[aria-current="page"]')).waitFor();
});

inTab('what was typed is lost by Back, a link or Escape only after a question', async (tab) => {
  await enter(tab, '#/alerts');
  await tab.getByRole('link', { name: 'New alert' }).click();
  const lower = tab.getByLabel('Lower threshold');
  await lower.fill('123 MB');
  const question = tab.getByRole('dialog', { name: 'Discard what you typed?' });
  for (const leave of [() => tab.goBack(), () => tab.getByRole('link', { name: 'Groups', exact: true }).click()]) {
    await leave();
    await question.getByRole('button', { name: 'Keep editing' }).click();
    await question.waitFor({ state: 'detached' });
    await eventually(() => lower.inputValue(), '123 MB');
    await eventually(() => new URL(tab.url()).hash, '#/alerts/new');
  }
  await tab.getByRole('link', { name: 'Groups', exact: true }).click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Groups' }).waitFor();

  await tab.getByRole('button', { name: 'New group' }).click();
  const form = tab.getByRole('dialog', { name: 'New group' });
  await form.getByLabel('Name').fill('Typed');
  await tab.mouse.click(5, 5); // beside it
  await eventually(() => form.getByLabel('Name').inputValue(), 'Typed');
  await tab.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await eventually(() => form.getByLabel('Name').inputValue(), 'Typed');
  await tab.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Discard' }).click();
  await form.waitFor({ state: 'detached' });
  await tab.getByRole('link', { name: 'Tags', exact: true }).click();
  await tab.getByRole('heading', { level: 1, name: 'Tags' }).waitFor();

  await tab.goto(`${base}/#/subscribers/89441000000000000000`);
  await tab.getByRole('button', { name: 'Edit the nickname' }).click();
  const nickname = tab.getByRole('textbox', { name: 'Nickname' });
  await nickname.fill('Typed');
  await tab.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await eventually(() => nickname.inputValue(), 'Typed');
  await tab.keyboard.press('Escape');
  await question.getByRole('button', { name: 'Discard' }).click();
  await tab.getByRole('button', { name: 'Edit the nickname' }).waitFor();
});
