// Links that sign in to the page once.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { base, enter, graph } from './browser.js';
import { accessible, pageTests } from './tab.js';

const inTab = pageTests();
const program = process.env.SIMGRAPH_PROGRAM ?? fileURLToPath(new URL('../../simgraph', import.meta.url));

/** A link of the operator for a user. The program finds the database by SIMGRAPH_DATA_DIR. */
const linkFor = (email) => execFileSync(program, ['login-link', '--user', email, '--public-url', base], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();

/** A user of the company other than that of the tests. */
async function another() {
  const { users, viewer } = await graph('{ viewer { email } users(first: 50) { nodes { email permissions } } }');
  return users.nodes.find(({ email, permissions }) => email !== viewer.email && permissions.includes('VIEW_SUBSCRIBER')).email;
}

async function isSignedIn(tab, email) {
  await tab.locator('.account-button').click();
  await tab.getByText(email, { exact: true }).waitFor();
  await tab.keyboard.press('Escape');
}

inTab('a link says whom it signs in, does so once, and is refused in words after that', async (tab) => {
  const { viewer: { email }, company } = await graph('{ viewer { email } company { name } }');
  const link = linkFor(email);
  await tab.goto(link);
  await tab.getByText(`This link signs you in as ${email} of ${company.name}.`).waitFor();
  await accessible(tab);
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  await isSignedIn(tab, email);

  const other = await tab.context().browser().newContext();
  try {
    const late = await other.newPage();
    await late.goto(link);
    await late.getByRole('alert').filter({ hasText: 'was used before' }).waitFor();
    await late.getByRole('button', { name: 'Other ways to sign in' }).click();
    await late.getByRole('button', { name: 'Access key' }).waitFor();
  } finally {
    await other.close();
  }
});

inTab('a link does not replace a session unasked', async (tab) => {
  const email = await another();
  const { viewer } = await graph('{ viewer { email } }');
  const link = linkFor(email);
  await enter(tab);
  await tab.goto(link);
  await tab.getByText('It replaces the session that you have now.').waitFor();
  await tab.getByRole('button', { name: 'Stay signed in' }).click();
  await isSignedIn(tab, viewer.email);
  await tab.goto(link);
  await tab.getByRole('button', { name: 'Sign in', exact: true }).click();
  await isSignedIn(tab, email);
});
