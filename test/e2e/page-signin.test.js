// Signing in to the page at an OpenID provider, which was down when the server started.
import assert from 'node:assert/strict';
import { after, before } from 'node:test';
import { base } from './browser.js';
import { down, people, refreshed, up } from './provider.js';
import { accessible, eventually, pageTests } from './tab.js';

const inTab = pageTests();
// The provider's own pages are foreign, and a refusal is a page with an error's status.
const atProvider = { expected: [/^foreign: http:\/\/localhost:/, /console: Failed to load resource/] };

before(() => {
  people.ada = { groups: ['fleet'] };
  people.eve = { groups: ['others'] };
});
after(down);

/** Goes to the provider and enters a login there. */
async function enterAs(tab, login, place = '') {
  await tab.goto(`${base}/${place}`);
  await tab.getByRole('link', { name: 'Sign in with Provider of the tests' }).click();
  await tab.getByLabel('Login').fill(login);
  await tab.getByRole('button', { name: 'Enter' }).click();
}

async function isSignedIn(tab, email) {
  await tab.locator('.account-button').click();
  await tab.getByText(email, { exact: true }).waitFor();
  await tab.keyboard.press('Escape');
}

const refused = async (tab, text) => {
  await tab.getByRole('heading', { name: 'You are not signed in' }).waitFor();
  await tab.getByRole('alert').filter({ hasText: text }).waitFor();
};

/** The status that the session's cookie gets. */
const status = async (tab) => (await tab.context().request.get(`${base}/graphql?query={__typename}`, { headers: { origin: base } })).status();

inTab('a provider that does not answer is said to, and other ways remain', async (tab) => {
  await tab.goto(base);
  await tab.getByRole('link', { name: 'Sign in with Provider of the tests' }).click();
  await refused(tab, 'does not answer');
  await tab.getByRole('link', { name: 'Other ways to sign in' }).click();
  await tab.getByRole('button', { name: 'Access key' }).waitFor();
  await up();
  // A provider that was too slow once is asked again after a minute.
  await eventually(async () => (await fetch(`${base}/signin/e2e`, { redirect: 'manual' })).status, 303, 'the server finds the provider', 75_000);
}, atProvider);

inTab('a person of the provider signs in, in all tabs, and comes back to the same place', async (tab) => {
  await enterAs(tab, 'ada', '#/groups');
  await isSignedIn(tab, 'ada@demo.example');
  await eventually(() => tab.url(), `${base}/#/groups`);
  const other = await tab.context().newPage();
  await other.goto(base);
  await isSignedIn(other, 'ada@demo.example');
  const cookies = await tab.context().cookies(base);
  assert.deepEqual(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite]), [['simgraph-session', true, 'Strict']]);
}, atProvider);

inTab('whoever no rule knows reads why', async (tab) => {
  await enterAs(tab, 'eve');
  await refused(tab, 'Nothing that Provider of the tests says about you gives you access');
  await accessible(tab, 'the page of a refusal');
  await tab.getByRole('link', { name: 'Other ways to sign in' }).click();
  await tab.getByRole('heading', { name: 'Sign in to your fleet' }).waitFor();
  await accessible(tab, 'the sign-in page');
}, atProvider);

inTab('whoever turns back at the provider can try again', async (tab) => {
  await tab.goto(base);
  await tab.getByRole('link', { name: 'Sign in with Provider of the tests' }).click();
  await tab.getByRole('button', { name: 'Cancel' }).click();
  await refused(tab, 'access_denied');
  await tab.getByRole('link', { name: 'Try Provider of the tests again' }).click();
  await tab.getByLabel('Login').fill('ada');
  await tab.getByRole('button', { name: 'Enter' }).click();
  await isSignedIn(tab, 'ada@demo.example');
}, atProvider);

inTab('the provider is asked about the session, which ends with the claim', async (tab) => {
  people.mia = { groups: ['fleet'] };
  await enterAs(tab, 'mia', '#/groups');
  await isSignedIn(tab, 'mia@demo.example');
  await eventually(() => refreshed.filter((login) => login === 'mia').length >= 2, true, 'the provider is asked twice', 75_000);
  assert.equal(await status(tab), 200);
  people.mia = { groups: ['others'] };
  await eventually(() => status(tab), 401, 'the session ends', 75_000);
  await tab.goto(`${base}/#/subscribers`);
  await tab.getByRole('dialog', { name: 'The session has ended' }).or(tab.getByRole('heading', { name: 'Sign in to your fleet' })).first().waitFor();
}, atProvider);

inTab('a session ends when the provider does not know the person any more', async (tab) => {
  people.leo = { groups: ['fleet'] };
  await enterAs(tab, 'leo');
  await isSignedIn(tab, 'leo@demo.example');
  delete people.leo;
  await eventually(() => status(tab), 401, 'the session ends', 75_000);
}, atProvider);

inTab('signing out ends the session, and the provider signs in again', async (tab) => {
  await enterAs(tab, 'ada');
  await isSignedIn(tab, 'ada@demo.example');
  await tab.locator('.account-button').click();
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.getByText('You have signed out.').waitFor();
  assert.equal(await status(tab), 401);
  await tab.getByRole('link', { name: 'Sign in with Provider of the tests' }).click();
  await isSignedIn(tab, 'ada@demo.example');
}, atProvider);

inTab('a session goes on while the provider does not answer', async (tab) => {
  await enterAs(tab, 'ada');
  await isSignedIn(tab, 'ada@demo.example');
  await down();
  try {
    await tab.reload();
    await isSignedIn(tab, 'ada@demo.example');
    assert.equal(await status(tab), 200);
  } finally {
    await up();
  }
}, atProvider);

inTab('where only providers sign in, the page offers no access key, but a token of the operator', async (tab) => {
  await tab.route('**/session', async (route) => {
    const answer = await (await route.fetch()).json();
    await route.fulfill({ json: { ...answer, ways: { ...answer.ways, keys: false } } });
  });
  await tab.goto(base);
  await tab.getByRole('link', { name: 'Sign in with Provider of the tests' }).waitFor();
  await eventually(() => tab.getByLabel('Access key').count(), 0);
  await tab.getByText('Sign in with a token of the operator').click();
  await tab.getByLabel('Access token').waitFor();
  await accessible(tab, 'the sign-in page with providers alone');
});
