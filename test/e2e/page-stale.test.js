// Two people edit the same thing: the second is shown what the first has changed, and nothing is written over unseen.
import assert from 'node:assert/strict';
import { enter, graph } from './browser.js';
import { accessible, countClicks, eventually, focused, pageTests, setDate } from './tab.js';

const inTab = pageTests();

const group = async () => (await graph('{ groups(first: 2) { nodes { groupId name } } }')).groups.nodes[1];
const nameOf = async (groupId) => (await graph('query($id: Int!) { group(by: {groupId: $id}) { name } }', { id: groupId })).group.name;
const rename = (groupId, name) => graph('mutation($input: EditGroupInput!) { editGroup(input: $input) { group { name } } }', { input: { groupId, name } });

for (const [place, options] of [['light', {}], ['dark', { colorScheme: 'dark' }], ['a phone', { viewport: { width: 390, height: 844 } }]]) {
  inTab(`an edit of a group that another has changed is shown, and saved by a second click (${place})`, async (tab) => {
    const { groupId, name } = await group();
    await enter(tab, `#/groups/${groupId}`);
    const edit = tab.getByRole('button', { name: 'Edit', exact: true });
    await edit.waitFor();
    const clicks = await countClicks(tab);
    await edit.click();
    const dialog = tab.getByRole('dialog', { name: 'Edit the group' });
    await dialog.getByRole('textbox', { name: 'Name' }).fill('Mine');
    await rename(groupId, 'Theirs');
    await dialog.getByRole('button', { name: 'Save' }).click();
    const alert = dialog.getByRole('alert');
    await alert.getByText('Changed meanwhile').waitFor();
    await alert.getByText(`Somebody else has changed “name” from ${name} to Theirs.`, { exact: false }).waitFor();
    await alert.getByText(/^Changed by \S+@\S+, /).waitFor();
    assert.equal(await nameOf(groupId), 'Theirs');
    await eventually(() => dialog.getByRole('textbox', { name: 'Name' }).inputValue(), 'Mine');
    await accessible(tab, 'a stale edit');
    if (process.env.SIMGRAPH_SHOTS) await tab.screenshot({ path: `${process.env.SIMGRAPH_SHOTS}/stale-${place}.png` });
    await alert.getByRole('button', { name: 'Keep mine' }).click();
    await tab.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
    assert.equal(await clicks(), 3);
    await rename(groupId, name);
  }, options);
}

inTab('of two tabs that edit a group, the second takes what the first has saved, and goes on from there', async (tab) => {
  const { groupId, name } = await group();
  const other = await tab.context().newPage();
  const open = async (page) => {
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    return page.getByRole('dialog', { name: 'Edit the group' });
  };
  await enter(tab, `#/groups/${groupId}`);
  await other.goto(tab.url());
  const [first, second] = [await open(other), await open(tab)];
  await second.getByRole('textbox', { name: 'Name' }).fill('Second');
  await first.getByRole('textbox', { name: 'Name' }).fill('First');
  await first.getByRole('button', { name: 'Save' }).click();
  await first.waitFor({ state: 'detached' });
  await second.getByRole('button', { name: 'Save' }).click();
  await second.getByText(`Somebody else has changed “name” from ${name} to First.`, { exact: false }).waitFor();
  await second.getByRole('button', { name: 'Take theirs' }).click();
  await eventually(() => second.getByRole('textbox', { name: 'Name' }).inputValue(), 'First');
  await eventually(() => second.getByRole('alert').count(), 0);
  await second.getByRole('textbox', { name: 'Name' }).fill('First and second');
  await second.getByRole('button', { name: 'Save' }).click();
  await second.waitFor({ state: 'detached' });
  assert.equal(await nameOf(groupId), 'First and second');
  await other.close();
  await rename(groupId, name);
});

inTab('an edit that comes between the check of the server and the form is refused by the server', async (tab) => {
  const { groupId, name } = await group();
  await enter(tab, `#/groups/${groupId}`);
  await tab.getByRole('button', { name: 'Edit', exact: true }).click();
  const dialog = tab.getByRole('dialog', { name: 'Edit the group' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Mine');
  await rename(groupId, 'Theirs');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByText('to Theirs.', { exact: false }).waitFor();
  await rename(groupId, 'Theirs again');
  await dialog.getByRole('button', { name: 'Keep mine' }).click();
  await dialog.getByText('“name” from Theirs to Theirs again.', { exact: false }).waitFor();
  assert.equal(await nameOf(groupId), 'Theirs again');
  await dialog.getByRole('button', { name: 'Keep mine' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.equal(await nameOf(groupId), 'Mine');
  await rename(groupId, name);
});

inTab('a nickname that another has changed is shown before it is replaced', async (tab) => {
  const { subscribers } = await graph('{ subscribers(first: 1) { nodes { physicalId nickname } } }');
  const [{ physicalId, nickname }] = subscribers.nodes;
  const name = (text) => graph('mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { __typename } }', { input: { physicalId, nickname: text, reason: 'Ticket 4712' } });
  await enter(tab, `#/subscribers/${physicalId}`);
  await tab.getByRole('button', { name: 'Edit the nickname' }).click();
  await tab.getByRole('textbox', { name: 'Nickname' }).fill('Mine');
  await name('Theirs');
  await tab.getByRole('button', { name: 'Save' }).click();
  await tab.getByText('to Theirs.', { exact: false }).waitFor();
  await tab.getByText(/^Changed by \S+@\S+, .*\. Reason: Ticket 4712$/).waitFor();
  await eventually(() => tab.getByRole('textbox', { name: 'Nickname' }).inputValue(), 'Mine');
  await tab.getByRole('button', { name: 'Keep mine' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Mine' }).waitFor();
  await name(nickname ?? '');
});

inTab('a stale edit of a user is shown and left by the keyboard alone', async (tab) => {
  const { users, viewer } = await graph('{ viewer { email } users(first: 50) { nodes { email isDisabled } } }');
  const { email } = users.nodes.find((one) => one.email !== viewer.email && !one.isDisabled);
  const disable = (isDisabled) => graph('mutation($input: EditUserInput!) { editUser(input: $input) { user { email } } }', { input: { userEmail: email, isDisabled } });
  await enter(tab, '#/users');
  await tab.getByRole('button', { name: `Edit ${email}` }).focus();
  await tab.keyboard.press('Enter');
  const dialog = tab.getByRole('dialog', { name: email });
  await dialog.waitFor();
  await disable(true);
  for (let i = 0; (await focused(tab)) !== 'button Save'; i++) {
    assert.ok(i < 100, 'Save is not reached');
    await tab.keyboard.press('Tab');
  }
  await tab.keyboard.press('Enter');
  await dialog.getByText('Somebody else has changed “disabled” from no to yes', { exact: false }).waitFor();
  await tab.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  const { users: { nodes } } = await graph('query($email: String!) { users(first: 1, filter: {email: {eq: $email}}) { nodes { isDisabled } } }', { email });
  assert.equal(nodes[0].isDisabled, true);
  await disable(false);
});

inTab('an edit of a record goes on where another has changed another field', async (tab) => {
  const { subscribers } = await graph('{ subscribers(first: 1, filter: {kind: {eq: CELLULAR}}) { nodes { physicalId imsi contractLength } } }');
  const [{ physicalId, contractLength, imsi }] = subscribers.nodes;
  const edit = (input) => graph('mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { __typename } }', { input: { physicalId, ...input } });
  await enter(tab, `#/subscribers/${physicalId}`);
  await tab.getByRole('button', { name: 'Edit the record' }).click();
  const dialog = tab.getByRole('dialog', { name: `Record of ${physicalId}` });
  await dialog.getByLabel('Contract in months').fill('7');
  await edit({ imsi: '' });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  const { subscriber } = await graph('query($id: String!) { subscriber(by: {physicalId: $id}) { imsi contractLength } }', { id: physicalId });
  assert.equal(subscriber.contractLength, 7);
  assert.ok(!subscriber.imsi);
  await edit({ imsi: imsi ?? '', contractLength });
});

inTab('a date of a record that another has changed is said in words, with who changed it, when and why', async (tab) => {
  const { subscribers, company: { timeZone } } = await graph('{ company { timeZone } subscribers(first: 1, filter: {kind: {eq: CELLULAR}}) { nodes { physicalId expiryDate } } }');
  const [{ physicalId, expiryDate }] = subscribers.nodes;
  const edit = (input) => graph('mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { __typename } }', { input: { physicalId, ...input } });
  await enter(tab, `#/subscribers/${physicalId}`);
  await tab.getByRole('button', { name: 'Edit the record' }).click();
  const dialog = tab.getByRole('dialog', { name: `Record of ${physicalId}` });
  await setDate(dialog, 'Ends', '2041-02-03');
  await edit({ expiryDate: '2042-06-05T12:00:00Z', reason: 'Ticket 4714' });
  const at = (moment) => new Date(moment).toLocaleString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit', timeZone });
  await dialog.getByRole('button', { name: 'Save' }).click();
  const alert = dialog.getByRole('alert');
  await alert.getByText(`to ${at('2042-06-05T12:00:00Z')}.`, { exact: false }).waitFor();
  await alert.getByText(/^Changed by \S+@\S+, .*\. Reason: Ticket 4714$/).waitFor();
  await alert.getByRole('button', { name: 'Take theirs' }).click();
  await eventually(() => dialog.getByRole('group', { name: 'Ends', exact: true }).textContent().then((text) => /2042/.test(text)), true);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await edit({ expiryDate });
});
