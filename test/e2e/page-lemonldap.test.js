// Signing in to the page at LemonLDAP::NG, which people use as an identity provider:
// another implementation than the one of page-signin.test.js, with thin ID tokens, a
// UserInfo endpoint and groups that are one text or a list.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { base, openTab } from './browser.js';
import { down, installed, know, up } from './lemonldap.js';
import { browserOf, eventually, pageTests } from './tab.js';

const inTab = installed ? pageTests() : (name) => test(name, { skip: 'LemonLDAP::NG is missing: scripts/install-test-tools.sh' });
const atProvider = { expected: [/^foreign: http:\/\/localhost:/, /console: /] };

if (installed) {
  before(async () => {
    know('lois', ['staff', 'fleet']);
    await up();
  });
  after(down);
}

const toProvider = async (tab, place = '') => {
  await tab.goto(`${base}/${place}`);
  await tab.getByRole('link', { name: 'Sign in with LemonLDAP' }).click();
};

async function logIn(tab, login, password = login) {
  await tab.locator('#userfield').fill(login);
  await tab.locator('#passwordfield').fill(password);
  await tab.locator('#lform button[type=submit]').click();
}

async function enterAs(tab, login, place) {
  await toProvider(tab, place);
  await logIn(tab, login);
}

async function isSignedIn(tab, login) {
  await tab.locator('.account-button').click();
  await tab.getByText(`${login}@lemonldap.example`).waitFor();
  await tab.keyboard.press('Escape');
}

async function isRefused(tab, text) {
  await tab.getByRole('heading', { name: 'You are not signed in' }).waitFor();
  await tab.getByRole('alert').filter({ hasText: text }).waitFor();
}

/** The codes of the errors that the session gets for a question, or its status where that is another than 200. */
async function answer(tab, query) {
  const response = await tab.context().request.get(`${base}/graphql?${new URLSearchParams({ query })}`, { headers: { origin: base } });
  if (response.status() === 401) return '401';
  const { errors = [] } = await response.json();
  return errors.map(({ extensions }) => extensions.code).join();
}

const fleet = '{ company { fleet { total } } }';
const users = '{ users(first: 1) { nodes { email } } }';

inTab('a person of LemonLDAP signs in, and comes back to the same place', async (tab) => {
  await enterAs(tab, 'lois', '#/groups');
  await isSignedIn(tab, 'lois');
  await eventually(() => tab.url(), `${base}/#/groups`);
  assert.equal(await answer(tab, fleet), '');
}, atProvider);

inTab('a wrong password at LemonLDAP signs nobody in', async (tab) => {
  know('nina', ['fleet']);
  await toProvider(tab);
  await logIn(tab, 'nina', 'wrong');
  await tab.locator('.alert').first().waitFor();
  assert.equal(await answer(tab, fleet), '401');
  await logIn(tab, 'nina');
  await isSignedIn(tab, 'nina');
}, atProvider);

inTab('a person of LemonLDAP without a group that a rule names is refused', async (tab) => {
  know('olaf', ['staff']);
  await enterAs(tab, 'olaf');
  await isRefused(tab, 'Nothing that LemonLDAP says about you gives you access');
  assert.equal(await answer(tab, fleet), '401');
}, atProvider);

inTab('a session follows the groups at LemonLDAP, and ends with them', async (tab) => {
  know('pia', ['fleet']);
  await enterAs(tab, 'pia');
  await isSignedIn(tab, 'pia');
  assert.equal(await answer(tab, users), 'FORBIDDEN');
  know('pia', ['admins']);
  await eventually(() => answer(tab, users), '', 'the rights of the other group hold', 75_000);
  know('pia', ['staff']);
  await eventually(() => answer(tab, users), '401', 'the session ends', 75_000);
}, atProvider);

inTab('a session ends when LemonLDAP does not know the person any more', async (tab) => {
  know('rosa', ['fleet']);
  await enterAs(tab, 'rosa');
  await isSignedIn(tab, 'rosa');
  know('rosa');
  await eventually(() => answer(tab, fleet), '401', 'the session ends', 75_000);
}, atProvider);

inTab('signing out ends the session here, and LemonLDAP signs in again without a password', async (tab) => {
  await enterAs(tab, 'lois');
  await isSignedIn(tab, 'lois');
  await tab.locator('.account-button').click();
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.getByText('You have signed out.').waitFor();
  assert.equal(await answer(tab, fleet), '401');
  await tab.getByRole('link', { name: 'Sign in with LemonLDAP' }).click();
  await isSignedIn(tab, 'lois');
}, atProvider);

inTab('LemonLDAP stops while a person is on the way back from it', async (tab) => {
  await enterAs(tab, 'lois');
  await isSignedIn(tab, 'lois');
  const other = await openTab(browserOf(tab));
  await toProvider(other.tab);
  // The answer to the form leads back to the page: here by a link, before which the provider stops.
  await other.tab.route('http://localhost:*/**', async (route) => {
    if (route.request().method() !== 'POST') return route.continue();
    const { location } = (await route.fetch({ maxRedirects: 0 })).headers();
    await down();
    return route.fulfill({ contentType: 'text/html', body: `<a href="${location.replaceAll('&', '&amp;')}">Go back</a>` });
  });
  await logIn(other.tab, 'lois');
  await other.tab.getByRole('link', { name: 'Go back' }).click();
  await isRefused(other.tab, 'does not answer');
  await other.close();
  await tab.reload();
  await isSignedIn(tab, 'lois');
  assert.equal(await answer(tab, fleet), '');
}, atProvider);
