// The time line of a subscriber: changes, alerts and sessions in one list.
import assert from 'node:assert/strict';
import { enter, graph } from './browser.js';
import { accessible, countClicks, eventually, pageTests } from './tab.js';

const inTab = pageTests();

// The subscriber of whom a gateway reported a session (run.sh).
const physicalId = '89441000000000000000';

inTab('one time line has changes with who made them, alerts and sessions, the newest first, and one click narrows it', async (tab) => {
  const { subscriber: { nickname, subscriberId } } = await graph('query($id: String!) { subscriber(by: {physicalId: $id}) { nickname subscriberId } }', { id: physicalId });
  const rename = (to) => graph('mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { nickname } } }', { input: { physicalId, nickname: to } });
  await rename('Van of the time line');
  const { createAlert } = await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'SIM', target: subscriberId, lowerThreshold: '0', upperThreshold: '900000000000000' } });
  const { alertId } = createAlert.alert;

  await enter(tab, `#/subscribers/${physicalId}?tab=history`);
  const line = tab.getByRole('list', { name: 'What happened, the newest first' });
  const entries = line.getByRole('listitem');
  await entries.first().waitFor();
  // What other tests have changed of the subscriber since stands before its sessions.
  while ((await entries.filter({ hasText: /^Session1\.5/ }).count()) === 0) {
    const shown = await entries.count();
    await tab.getByRole('button', { name: 'Show older' }).click();
    await entries.nth(shown).waitFor();
  }
  const all = await entries.allTextContents();
  const alert = all.findIndex((text) => text.startsWith('AlertLower threshold exceeded'));
  const change = all.findIndex((text) => text.startsWith('Changesubscriber.edit') && text.includes('Van of the time line') && text.includes('(graphql)'));
  const session = all.findIndex((text) => text.startsWith('Session1.5'));
  assert.ok(alert >= 0 && alert < change && change < session, all.join('\n'));
  const times = await entries.locator('time').evaluateAll((elements) => elements.map(({ dateTime }) => Date.parse(dateTime)));
  assert.deepEqual(times, times.toSorted((a, b) => b - a));
  await accessible(tab, 'a time line');

  const clicks = await countClicks(tab);
  await tab.getByRole('group', { name: 'What the time line shows' }).getByRole('button', { name: 'Sessions' }).click();
  await line.getByText(/^Alert/).first().waitFor({ state: 'detached' });
  await eventually(() => entries.allTextContents().then((all) => all.every((text) => text.startsWith('Session'))), true);
  assert.equal(await clicks(), 1);
  await entries.first().getByRole('link').click();
  await tab.waitForURL(/[?&]from=.*&to=/);
  await tab.getByRole('region', { name: 'Sessions' }).getByText(/pgw-berlin/).waitFor();
  await enter(tab, `#/subscribers/${physicalId}?tab=history`);
  await tab.getByRole('group', { name: 'What the time line shows' }).getByRole('button', { name: 'Changes' }).click();
  await entries.filter({ hasText: 'Van of the time line' }).first().getByRole('link', { name: 'subscriber.edit' }).click();
  await tab.getByText('Entries: 1', { exact: true }).waitFor();
  await tab.getByRole('row').filter({ hasText: 'Van of the time line' }).waitFor();
  await enter(tab, `#/subscribers/${physicalId}?tab=history`);
  await tab.getByRole('group', { name: 'What the time line shows' }).getByRole('button', { name: 'Alerts' }).click();
  await line.getByRole('link', { name: 'Lower threshold exceeded' }).first().click();
  await tab.waitForURL(new RegExp(`#/alerts/${alertId}$`));
  await graph('mutation($id: Int!) { deleteAlert(input: { alertId: $id }) { alert { alertId } } }', { id: alertId });
  await rename(nickname);
});

inTab('the time line goes on as far as its lists do', async (tab) => {
  const names = Array.from({ length: 30 }, (_, i) => `name ${i}`);
  const { subscriber: { nickname } } = await graph('query($id: String!) { subscriber(by: {physicalId: $id}) { nickname } }', { id: physicalId });
  for (const name of [...names, nickname]) await graph('mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { nickname } } }', { input: { physicalId, nickname: name } });
  await enter(tab, `#/subscribers/${physicalId}?tab=history`);
  const entries = tab.getByRole('list', { name: 'What happened, the newest first' }).getByRole('listitem');
  await entries.nth(24).waitFor();
  await eventually(() => entries.count(), 25);
  await tab.getByRole('button', { name: 'Show older' }).click();
  await entries.nth(30).waitFor();
  await eventually(() => entries.allTextContents().then((all) => all.some((text) => text.includes('→ name 0'))), true);
}, { viewport: { width: 390, height: 844 } });
