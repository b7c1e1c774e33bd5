// Moving subscribers into a group with alerts: what that sets off is said before it starts, can be silenced, and is not undone.
import assert from 'node:assert/strict';
import { enter, graph } from './browser.js';
import { accessible, countClicks, eventually, pageTests, pick } from './tab.js';

const inTab = pageTests();

const tag = 'forecast by e2e';

/** Three subscribers with usage and a tag, and a group whose every member fires at its first byte, with a recipient of its own. */
async function watched(name) {
  const { subscribers } = await graph('{ subscribers(first: 3, filter: { dataUsage: { gt: 1000 } }) { nodes { physicalId } } }');
  const physicalIds = subscribers.nodes.map((one) => one.physicalId);
  await changed({ physicalIds, change: { addTags: [tag] } });
  const { createGroup } = await graph('mutation($name: String!) { createGroup(input: { name: $name }) { group { groupId } } }', { name });
  const { groupId } = createGroup.group;
  await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'GROUPFPTP', target: String(groupId), lowerThreshold: 1, upperThreshold: 10 ** 15 } });
  await graph('mutation($input: CreateRecipientInput!) { createRecipient(input: $input) { recipient { recipientId } } }', { input: { email: `group${groupId}@forecast.example`, scope: { groupIds: [groupId] } } });
  return groupId;
}

async function changed(input) {
  const { startSubscriberChange } = await graph('mutation($input: StartSubscriberChangeInput!) { startSubscriberChange(input: $input) { operation { operationId } } }', { input });
  for (const { operationId } = startSubscriberChange.operation; ;) {
    const { operation } = await graph('query($operationId: String!) { operation(by: { operationId: $operationId }) { endedAt } }', { operationId });
    if (operation.endedAt) return;
    await new Promise((later) => { setTimeout(later, 200); });
  }
}

const firedIn = async (groupId) => {
  const { alertLog } = await graph('query($target: String!) { alertLog(first: 10, filter: { target: { eq: $target }, ruleType: { eq: GROUPFPTP } }) { nodes { isSilenced } } }', { target: String(groupId) });
  return alertLog.nodes.map((one) => one.isSilenced);
};

/** Chooses the three and shows what moving them would do. */
async function tried(tab, group) {
  await enter(tab, `#/subscribers?tag=${encodeURIComponent(tag)}`);
  await tab.getByLabel('Select all rows shown').waitFor();
  const clicks = await countClicks(tab);
  await tab.getByLabel('Select all rows shown').check();
  await tab.getByRole('region', { name: 'Chosen subscribers' }).getByRole('button', { name: 'Change …' }).click();
  const dialog = tab.getByRole('dialog');
  await dialog.locator('label').filter({ hasText: /^Change/ }).locator('select').selectOption({ label: 'Move to a group' });
  await pick(dialog, 'Group', group);
  await dialog.getByRole('button', { name: 'Show what would change' }).click();
  await dialog.getByText('3 would change').waitFor();
  return { dialog, clicks };
}

/** Takes the operation back, and waits until that is done. */
async function undone(tab) {
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Undo' }).waitFor();
  await tab.locator('.heading .badge').getByText('done').waitFor({ timeout: 60_000 });
}

inTab('a move into a watched group says what it sets off before it starts, and what undo leaves', async (tab) => {
  const groupId = await watched('Forecast');
  const { dialog, clicks } = await tried(tab, 'Forecast');
  await dialog.getByText(/^Would set off 3 alerts, mails to \d+ recipients?\. Undoing takes none of it back\.$/).waitFor();
  assert.deepEqual(await firedIn(groupId), []);
  await accessible(tab, 'a forecast');
  await dialog.getByRole('button', { name: 'Change 3' }).click();
  await tab.getByText('3 changed').waitFor({ timeout: 60_000 });
  assert.equal(await clicks(), 5);
  await tab.getByText(/^Set off 3 alerts, mails to \d+ recipients?\. Undo does not take that back: alerts stay in the log, what was sent stays sent\.$/).waitFor();
  assert.deepEqual(await firedIn(groupId), [false, false, false]);
  await accessible(tab, 'what an operation has set off');
  await undone(tab);
  assert.equal((await firedIn(groupId)).length, 3);
  // What fired in this billing period does not fire in it again.
  const again = await tried(tab, 'Forecast');
  await again.dialog.getByText('Would set off no alert.').waitFor();
  await eventually(() => again.dialog.getByRole('checkbox').count(), 0);
  await accessible(tab, 'a forecast of nothing');
});

inTab('a move into a watched group is silenced while it runs, and not after', async (tab) => {
  const groupId = await watched('Forecast in silence');
  const { dialog } = await tried(tab, 'Forecast in silence');
  await dialog.getByRole('checkbox', { name: 'Silence these subscribers while it runs' }).check();
  await dialog.getByRole('button', { name: 'Change 3' }).click();
  await tab.getByText('3 changed').waitFor({ timeout: 60_000 });
  await tab.getByText(/^Set off 3 alerts\. Undo does not take that back/).waitFor();
  assert.deepEqual(await firedIn(groupId), [true, true, true]);
  await tab.getByRole('link', { name: /^The operation .* runs$/ }).waitFor();
  const { silences } = await graph('{ silences(first: 1, filter: { reason: { like: "The operation" } }) { nodes { isEnded physicalIds } } }');
  assert.deepEqual(silences.nodes.map(({ isEnded, physicalIds }) => [isEnded, physicalIds.length]), [[true, 3]]);
  await undone(tab);
}, { viewport: { width: 390, height: 844 } });
