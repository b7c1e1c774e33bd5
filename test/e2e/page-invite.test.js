// A colleague is invited from the page alone, signs in by the link, and is seen, signed out and removed.
import assert from 'node:assert/strict';
import { enter, graph, openTab } from './browser.js';
import { accessible, browserOf, countClicks, eventually, pageTests, pickAlso } from './tab.js';

const inTab = pageTests();
const email = `colleague-${Date.now()}@e2e.example`;

const user = async (of) => (await graph('query($email: String!) { user(by: { email: $email }) { permissions lastSignedInAt invitation { expiresAt } groups(first: 10) { nodes { groupId name } } sessions { way address } } }', { email: of })).user;
const groupsOf = async () => (await graph('{ groups(first: 2) { nodes { groupId name } } }')).groups.nodes;
const rowOf = (tab, of) => tab.getByRole('row').filter({ hasText: of });

inTab('a colleague of two groups is invited in six clicks, signs in by the link once, and is signed out and removed', async (tab) => {
  const groups = await groupsOf();
  await enter(tab, '#/users');
  const clicks = await countClicks(tab);
  await tab.getByRole('button', { name: 'New user' }).click();
  const dialog = tab.getByRole('dialog', { name: 'New user' });
  await dialog.getByLabel('E-mail address').fill(email);
  await eventually(() => dialog.getByRole('radio', { checked: true }).count(), 0);
  await eventually(() => dialog.getByRole('button', { name: 'Invite' }).isDisabled(), true);
  await dialog.getByLabel('View Subscriber').check();
  await dialog.getByLabel('These groups').check();
  for (const { name } of groups) await pickAlso(dialog, 'Groups', name);
  await accessible(tab, 'an invitation');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  const done = tab.getByRole('dialog', { name: `${email} is invited` });
  const link = (await done.locator('pre code').textContent()).trim();
  assert.equal(await clicks(), 6);
  await accessible(tab, 'the link of an invitation');
  await done.getByRole('button', { name: 'Done' }).click();
  await rowOf(tab, email).getByText('invited', { exact: true }).waitFor();
  await rowOf(tab, email).getByText('never').waitFor();
  const before = await user(email);
  assert.deepEqual(before.groups.nodes, groups);
  assert.ok(Math.abs(Date.parse(before.invitation.expiresAt) - Date.now() - 7 * 86_400_000) < 120_000);

  const other = await openTab(browserOf(tab));
  try {
    await other.tab.goto(link);
    await other.tab.getByText(`This link signs you in as ${email}`).waitFor();
    await other.tab.getByRole('button', { name: 'Sign in', exact: true }).click();
    await other.tab.locator('.account-button').waitFor();
    const late = await other.tab.context().browser().newContext();
    const second = await late.newPage();
    await second.goto(link);
    await second.getByRole('alert').filter({ hasText: 'was used before' }).waitFor();
    await eventually(() => second.getByText(email).count(), 0);
    await late.close();

    await tab.reload();
    await rowOf(tab, email).getByText('active').waitFor();
    await tab.getByRole('button', { name: `Access of ${email}` }).click();
    const access = tab.getByRole('dialog', { name: `Access of ${email}` });
    await access.getByText('From 127.0.0.1 by a link').waitFor();
    await accessible(tab, 'the access of a user');
    await access.getByRole('button', { name: 'End the session from 127.0.0.1' }).click();
    await access.getByText('Nobody is signed in as this user.').waitFor();
    await other.tab.waitForTimeout(6_000);
    await other.tab.reload();
    await other.tab.getByRole('button', { name: 'Access key' }).waitFor();

    // A second invitation ends the first; both end with the user.
    await access.getByRole('button', { name: 'Send an invitation' }).click();
    const again = (await access.locator('pre code').textContent()).trim();
    await access.getByRole('button', { name: 'Invite again' }).click();
    await access.locator('pre code').filter({ hasNotText: again }).waitFor();
    await access.getByRole('button', { name: 'Withdraw the invitation' }).click();
    await access.getByRole('button', { name: 'Send an invitation' }).waitFor();
    await access.getByRole('button', { name: 'Remove the user' }).click();
    await accessible(tab, 'the removal of a user');
    await access.getByRole('button', { name: `Remove ${email}` }).click();
    await access.waitFor({ state: 'detached' });
    await rowOf(tab, email).waitFor({ state: 'detached' });
    assert.equal(await user(email), null);
  } finally {
    await other.close();
  }
});

inTab('a colleague is invited by the keyboard alone', async (tab) => {
  const [{ name }] = await groupsOf();
  const invited = `keys-${email}`;
  await enter(tab, '#/users');
  await tab.getByRole('button', { name: 'New user' }).focus();
  await tab.keyboard.press('Enter');
  await tab.getByRole('dialog').waitFor();
  await tab.keyboard.type(invited);
  const reach = async (locator) => {
    for (let presses = 0; presses < 60 && !(await locator.evaluate((element) => element === document.activeElement)); presses++) await tab.keyboard.press('Tab');
    await eventually(() => locator.evaluate((element) => element === document.activeElement), true, 'the keyboard does not lead there');
  };
  const dialog = tab.getByRole('dialog');
  await reach(dialog.getByLabel('View Subscriber'));
  await tab.keyboard.press('Space');
  await reach(dialog.getByLabel('The whole company'));
  await tab.keyboard.press('ArrowDown');
  await reach(dialog.getByRole('combobox', { name: 'Groups' }));
  await tab.keyboard.type(name);
  await dialog.getByRole('option', { name }).waitFor();
  for (const key of ['ArrowDown', 'Enter', 'Escape']) await tab.keyboard.press(key);
  await reach(dialog.getByRole('button', { name: 'Invite' }));
  await tab.keyboard.press('Enter');
  await tab.getByRole('dialog', { name: `${invited} is invited` }).waitFor();
  await tab.keyboard.press('Enter');
  await rowOf(tab, invited).waitFor();
  assert.deepEqual((await user(invited)).groups.nodes.map((group) => group.name), [name]);
  await graph('mutation($email: String!) { deleteUser(input: { userEmail: $email }) { user { email } } }', { email: invited });
});
