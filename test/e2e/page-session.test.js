// Sessions of the page: tabs, links with tokens, what sign-out leaves.
import assert from 'node:assert/strict';
import { base, beginSession, enter, graph, textOf } from './browser.js';
import { eventually, example, failOperation, oneSubscriber, openExample, pageTests, runQuery } from './tab.js';

const inTab = pageTests();

/** The server refuses what an open page still asks with a session that is over or replaced, or with a wrong token. */
const refusals = { expected: [/console: Failed to load resource.*401/] };

/** A token of its own, which a test can end. Without an address it is of the user of the tests. */
async function freshToken(email) {
  const userEmail = email ?? (await graph('{ viewer { email } }')).viewer.email;
  const { createAccessKey } = await graph('mutation($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }', { input: { userEmail, lifetimeDays: 1, scope: email ? { permissions: ['VIEW_SUBSCRIBER'] } : { all: true } } });
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: createAccessKey.accessKey.accessKeyId, client_secret: createAccessKey.secret });
  const response = await fetch(`${base}/oauth/token`, { method: 'POST', body });
  return (await response.json()).access_token;
}

/** Another user of the company that may see subscribers. */
async function anotherUser() {
  const { users, viewer } = await graph('{ viewer { email } users(first: 50) { nodes { email permissions } } }');
  return users.nodes.find(({ email, permissions }) => email !== viewer.email && permissions.includes('VIEW_SUBSCRIBER')).email;
}

const signOut = async (tab) => {
  await tab.locator('.account-button').click();
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.getByRole('heading', { name: 'Sign in to your fleet' }).waitFor();
};

const keptDrafts = (tab) => tab.evaluate(() => JSON.stringify(localStorage));

inTab('a subscriber opened in another tab is signed in', async (tab) => {
  await enter(tab, '#/subscribers');
  const link = tab.locator('table.rows tbody a').first();
  await link.waitFor();
  const [other] = await Promise.all([tab.context().waitForEvent('page'), link.click({ modifiers: ['Control'] })]);
  await other.locator('.account-button').waitFor();
  await other.locator('#usage-title').waitFor();
});

/** Waits until the server refuses a request: within five seconds of the end of its credential. */
async function isRefused(headers) {
  for (const begun = Date.now(); ; ) {
    const { status } = await fetch(`${base}/graphql?query={__typename}`, { headers });
    if (status === 401) return;
    assert.ok(Date.now() - begun < 6_000, `the credential is still accepted: ${status}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

inTab('signing out ends the session and its token, and removes answers, drafts and history, in every tab', async (tab) => {
  const bearer = await freshToken();
  const session = await enter(tab, '#/explore', bearer);
  const withCookie = { cookie: `simgraph-session=${session}`, origin: base };
  const { status } = await fetch(`${base}/graphql?query={__typename}`, { headers: withCookie });
  assert.equal(status, 200);
  await runQuery(tab, 'query FormerSecret { company { name billingDay fleet { total active } } }');
  await tab.locator('.result .sheet').waitFor();
  await tab.waitForFunction(() => JSON.stringify(localStorage).includes('FormerSecret'));
  const other = await tab.context().newPage();
  await other.goto(`${base}/#/subscribers`);
  await other.locator('table.rows tr').nth(2).waitFor();

  await signOut(tab);
  await eventually(() => tab.url(), `${base}/`);
  await other.getByText('You have signed out in another tab.').waitFor();
  assert.ok(!(await keptDrafts(tab)).includes('FormerSecret'));
  await isRefused(withCookie);
  await isRefused({ authorization: `Bearer ${bearer}` });

  await enter(tab, '#/explore');
  await tab.getByText('Run a query, and what it answers is drawn here.').waitFor();
  await eventually(() => tab.getByText('FormerSecret').count(), 0);
}, refusals);

inTab('all tabs show the same session, also when another user signs in in one of them', async (tab) => {
  await enter(tab, '#/', await freshToken());
  const email = await anotherUser();
  const bearer = await freshToken(email);
  const other = await tab.context().newPage();
  await other.goto(base);
  await signOut(other);
  await tab.getByText('You have signed out in another tab.').waitFor();
  await other.goto(`${base}/#token=${bearer}`);
  for (const one of [other, tab]) {
    await one.locator('.account-button').click();
    await one.getByText(email, { exact: true }).waitFor();
  }
}, refusals);

inTab('a tab that was out of sight shows the session of now', async (tab) => {
  await enter(tab);
  const email = await anotherUser();
  await beginSession(tab, await freshToken(email));
  await Promise.all([tab.waitForEvent('load'), tab.evaluate(() => document.dispatchEvent(new Event('visibilitychange')) && undefined)]);
  await tab.locator('.account-button').click();
  await tab.getByText(email, { exact: true }).waitFor();
}, refusals);

/** Ends the session of the browser on the server, as its time does. */
async function expire(tab) {
  const { cookies } = await tab.context().storageState();
  await tab.context().request.delete(`${base}/session`, { headers: { origin: base } });
  await tab.context().addCookies(cookies); // the answer has removed it
  await tab.locator('.graphiql-execute-button').click();
  await tab.getByRole('dialog', { name: 'The session has ended' }).waitFor();
}

inTab('drafts of a session that has ended stay for the same user alone', async (tab) => {
  const bearer = await freshToken();
  await enter(tab, '#/explore', bearer);
  await runQuery(tab, 'query MyDraft { company { name } }');
  await tab.waitForFunction(() => JSON.stringify(localStorage).includes('MyDraft'));
  await expire(tab);
  await enter(tab, '#/explore', await freshToken());
  await tab.locator('.graphiql-query-editor').getByText('MyDraft').waitFor();
  await expire(tab);
  await enter(tab, '#/explore', await freshToken(await anotherUser()));
  await tab.locator('.graphiql-query-editor').getByText('FleetOverview').waitFor();
  assert.ok(!(await keptDrafts(tab)).includes('MyDraft'));
}, refusals);

inTab('a wrong token is said to be wrong, not to have ended', async (tab) => {
  await tab.goto(base);
  await tab.getByRole('button', { name: 'Access token' }).click();
  await tab.getByLabel('Access token', { exact: true }).last().fill('sgt_1_wrong');
  await tab.getByRole('button', { name: 'Sign in' }).click();
  await tab.getByRole('alert').filter({ hasText: 'does not accept this access token' }).waitFor();
  await tab.goto(`${base}/#token=sgt_1_wrong`);
  await tab.getByRole('status').filter({ hasText: 'does not accept this access token' }).waitFor();
  await eventually(() => tab.getByText('has ended').count(), 0);
}, refusals);

inTab('a link with a token does not replace a session unasked', async (tab) => {
  const email = await anotherUser();
  const bearer = await freshToken(email);
  await enter(tab);
  const { company } = await graph('{ company { name } }');
  await tab.goto(`${base}/#token=${bearer}`);
  const dialog = tab.getByRole('dialog', { name: 'Sign in with the token of this link?' });
  await dialog.getByRole('button', { name: 'Stay signed in' }).click();
  await dialog.waitFor({ state: 'detached' });
  await eventually(() => tab.url().includes(bearer), false);
  await tab.goto(`${base}/#token=sgt_1_wrong`);
  await dialog.getByRole('button', { name: 'Sign in with the link' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'does not accept' }).waitFor();
  await tab.keyboard.press('Escape');
  await tab.goto(`${base}/#token=${bearer}`);
  await dialog.getByRole('button', { name: 'Sign in with the link' }).click();
  await dialog.waitFor({ state: 'detached' });
  await tab.locator('.account-button').filter({ hasText: company.name }).click();
  await tab.getByText(email, { exact: true }).waitFor();
}, refusals);

inTab('a query that fails leaves no old rows under the new heading', async (tab) => {
  await enter(tab);
  const panel = tab.getByRole('region', { name: 'Top talkers' });
  await panel.locator('.bars li').first().waitFor();
  await failOperation(tab, 'query TopTalkers(');
  await tab.getByRole('navigation', { name: 'Span of the usage' }).getByRole('link', { name: 'Last period' }).click();
  await panel.getByRole('alert').filter({ hasText: 'try again soon' }).waitFor();
  await eventually(() => panel.locator('.bars li').count(), 0);
  await eventually(() => panel.getByRole('button', { name: /as CSV/ }).isDisabled(), true);

  const { physicalId } = await oneSubscriber();
  await tab.goto(`${base}/#/subscribers/${physicalId}`);
  await tab.locator('#usage-title').waitFor();
  const usage = tab.getByRole('region', { name: 'Usage' });
  await usage.locator('.plot canvas').waitFor();
  await failOperation(tab, '"MONTH"');
  await usage.getByRole('button', { name: 'A year' }).click();
  await usage.getByRole('alert').waitFor();
  await eventually(() => usage.locator('.plot').count(), 0);
});

inTab('a part of a view that fails leaves the rest in view', async (tab) => {
  const { physicalId, nickname } = await oneSubscriber();
  await tab.route('**/graphql', async (route) => {
    if (!textOf(route.request()).includes('query Subscriber(')) return route.fallback();
    const answer = await (await route.fetch()).json();
    answer.data.subscriber.tags = null;
    answer.data.subscriber.dataUsage = null;
    answer.errors = [{ message: 'you need the permission View Tags', path: ['subscriber', 'tags'], extensions: { code: 'FORBIDDEN' } }];
    await route.fulfill({ json: answer });
  });
  await enter(tab, `#/subscribers/${physicalId}`);
  await tab.getByRole('heading', { level: 1, name: nickname }).waitFor();
  await tab.getByRole('alert').filter({ hasText: 'you need the permission View Tags' }).waitFor();
  await tab.getByRole('region', { name: 'Record' }).getByText(physicalId).waitFor();
});

inTab('"live" is lit only while the stream is there', async (tab) => {
  await tab.addInitScript(() => delete window.SharedWorker); // its requests cannot be answered here
  let refuse = true;
  await tab.routeWebSocket(/\/graphql$/, (socket) => (refuse ? socket.close({ code: 4429, reason: 'Too many connections' }) : socket.connectToServer()));
  await enter(tab);
  const panel = tab.getByRole('region', { name: 'Alerts fired lately' });
  await panel.getByText(/^not live/).waitFor();
  await eventually(() => panel.locator('.live').count(), 0);
  refuse = false;
  await panel.getByRole('button', { name: 'Connect again' }).click();
  await panel.getByText('live', { exact: true }).waitFor();
});

inTab('while a query runs, the panel says so', async (tab) => {
  let answer;
  await tab.route('**/graphql', (route) => {
    if (!route.request().postData()?.includes('FleetOverview')) return route.fallback();
    answer = () => route.fallback();
  });
  await enter(tab, '#/explore');
  await openExample(tab, /^Fleet overview/);
  await tab.locator('.result').getByText('Running the query').first().waitFor();
  await eventually(() => tab.getByText('Run a query, and').count(), 0);
  await answer();
  await tab.locator('.result .sheet').waitFor();
  await tab.locator('.result').getByText('Running the query').waitFor({ state: 'detached' });
  await example(tab, /^Tags/);
});
