// Silence during maintenance, from where one stands: a subscriber, a group, an alert, the bell.
import assert from 'node:assert/strict';
import { base, enter, graph } from './browser.js';
import { accessible, countClicks, eventually, pageTests } from './tab.js';

const inTab = pageTests();

const silences = async () => (await graph('{ silences(filter: { isEnded: { eq: false } }) { nodes { silenceId reason alertIds groupIds physicalIds isActive startsAt endsAt } } }')).silences.nodes;

/** Fills the dialog that asks why, and silences. */
async function silence(tab, why, title) {
  const dialog = tab.getByRole('dialog', { name: title });
  await dialog.getByText('Write why.').waitFor();
  await tab.keyboard.type(why); // the field has the focus
  await accessible(tab, title.toString());
  await dialog.getByRole('button', { name: 'Silence', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
}

async function ended(tab, reason) {
  await tab.getByRole('button', { name: `End the silence ${reason}` }).click();
  await tab.getByRole('dialog').getByRole('button', { name: 'End the silence' }).click();
  // The marks of a chart keep it.
  await tab.getByRole('button', { name: `End the silence ${reason}` }).waitFor({ state: 'detached' });
  assert.deepEqual(await silences(), []);
}

async function fired() {
  const { subscribers } = await graph('{ subscribers(first: 1, filter: { dataUsage: { gt: 1000 }, groupId: { gt: 0 } }) { nodes { subscriberId physicalId nickname group { groupId name } } } }');
  const [subscriber] = subscribers.nodes;
  const { createAlert } = await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'GROUPFPTP', target: String(subscriber.group.groupId), lowerThreshold: 0, upperThreshold: 1000000 } });
  return { ...subscriber, name: subscriber.nickname || subscriber.physicalId, alertId: createAlert.alert.alertId };
}

const deleted = (alertId) => graph('mutation($id: Int!) { deleteAlert(input: { alertId: $id }) { alert { alertId } } }', { id: alertId });

inTab('a subscriber and a group are silenced from their pages in two clicks, and the page says until when', async (tab) => {
  const { physicalId, name, group, alertId } = await fired();
  for (const [place, title, lists] of [
    [`#/subscribers/${physicalId}`, `Silence the subscriber ${name}`, { physicalIds: [physicalId], groupIds: [], alertIds: [] }],
    [`#/groups/${group.groupId}`, `Silence the group ${group.name} and its subscribers`, { physicalIds: [], groupIds: [group.groupId], alertIds: [] }],
    [`#/alerts/${alertId}`, `Silence the alert: Each subscriber of ${group.name} above 0 B or 1 MB`, { physicalIds: [], groupIds: [], alertIds: [alertId] }],
  ]) {
    await enter(tab, place);
    await tab.getByRole('button', { name: 'Silence', exact: true }).waitFor();
    const clicks = await countClicks(tab);
    await tab.getByRole('button', { name: 'Silence', exact: true }).click();
    await silence(tab, 'Works', title);
    await tab.getByText(/^Silenced until .*: Works$/).waitFor();
    assert.equal(await clicks(), 2, place);
    const [{ startsAt, endsAt, reason, isActive, silenceId, ...of }] = await silences();
    assert.deepEqual([of, reason, isActive, Math.round((Date.parse(endsAt) - Date.parse(startsAt)) / 60_000)], [lists, 'Works', true, 120], place);
    await accessible(tab, `${place} silenced`);
    await ended(tab, 'Works');
  }
  await deleted(alertId);
});

inTab('the bell silences what fires: what is chosen, and nothing beforehand', async (tab) => {
  const { group, alertId } = await fired();
  await enter(tab, '#/');
  const clicks = await countClicks(tab);
  await tab.getByRole('button', { name: /^Firing now: [1-9]/ }).click();
  const bell = tab.getByRole('dialog', { name: 'Firing now' });
  await bell.getByRole('button', { name: /^Silence what fires for/ }).first().click();
  const dialog = tab.getByRole('dialog', { name: 'Silence', exact: true });
  await dialog.getByText('Choose what to silence.').waitFor();
  await eventually(() => dialog.getByRole('radio', { checked: true }).count(), 0);
  await dialog.getByRole('radio', { name: `the alert: Each subscriber of ${group.name} above 0 B or 1 MB` }).check();
  await dialog.getByLabel('Why').focus();
  await silence(tab, 'Swap of antennas', 'Silence');
  assert.equal(await clicks(), 4);
  const [{ silenceId, alertIds }] = await silences();
  assert.deepEqual(alertIds, [alertId]);
  await tab.getByRole('button', { name: /^Firing now/ }).click();
  await bell.getByRole('link', { name: 'A silence is active' }).click();
  await tab.getByText(`What fits alert Each subscriber of ${group.name} above 0 B or 1 MB`).waitFor();
  await graph('mutation($id: Int!) { endSilence(input: { silenceId: $id }) { silence { silenceId } } }', { id: silenceId });
  await tab.goto(`${base}/#/alerts/log?alert=${alertId}`);
  await tab.getByText(`Each subscriber of ${group.name} above 0 B or 1 MB`).waitFor();
  await deleted(alertId);
});

inTab('more choices keep what was chosen and written', async (tab) => {
  const { physicalId, name, alertId } = await fired();
  await enter(tab, `#/subscribers/${physicalId}`);
  await tab.getByRole('button', { name: 'Silence', exact: true }).click();
  const dialog = tab.getByRole('dialog', { name: `Silence the subscriber ${name}` });
  await dialog.getByLabel('Why').fill('Works by night');
  await dialog.getByRole('button', { name: 'More choices' }).click();
  const whole = tab.getByRole('dialog', { name: 'New silence' });
  await eventually(() => whole.getByLabel('Why').inputValue(), 'Works by night');
  await eventually(() => whole.getByLabel('Subscribers, by ICCID, device EUI or IMEI').inputValue(), physicalId);
  await whole.getByLabel('Every alert').waitFor();
  await eventually(() => whole.getByLabel('Every alert').isChecked(), false);
  await whole.getByRole('button', { name: 'Cancel' }).click();
  assert.deepEqual(await silences(), []);
  await deleted(alertId);
}, { viewport: { width: 390, height: 844 } });
