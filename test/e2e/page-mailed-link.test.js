// A colleague whose session has ended is mailed a link that signs in once, on a server with a mail server and no provider.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openMailbox } from './mailbox.js';
import { accessible, browserOf, countClicks, eventually, focused, pageTests } from './tab.js';

const inTab = pageTests();
const program = process.env.SIMGRAPH_PROGRAM ?? fileURLToPath(new URL('../../simgraph', import.meta.url));
const email = 'ada@acme.example';
let mailbox, server, folder, site;

const freePort = () => new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(port));
  });
});

const run = (...args) => execFileSync(program, [...args, '--data-dir', folder], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });

async function start(...args) {
  const addr = `127.0.0.1:${await freePort()}`;
  site = `http://${addr}`;
  server = spawn(program, ['serve', '--addr', addr, '--data-dir', folder, '--smtp-url', mailbox.url, '--public-url', site, ...args], { stdio: 'ignore' });
  for (const until = Date.now() + 120_000; !(await fetch(`${site}/readyz`).catch(() => ({}))).ok; await new Promise((resolve) => setTimeout(resolve, 200))) {
    assert.ok(Date.now() < until, 'the server is not ready');
  }
}

async function stop() {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill();
  await ended;
}

before(async () => {
  mailbox = await openMailbox();
  folder = await mkdtemp(join(tmpdir(), 'simgraph-'));
  await chmod(folder, 0o755);
  await start();
  run('company', 'create', 'acme', '--name', 'Acme');
  run('user', 'create', email, '--company', 'acme', '--permission', 'View Subscriber', '--permission', 'View Statistics Overview', '--permission', "View a User's Details");
}, { timeout: 180_000 });

after(async () => {
  await stop();
  mailbox.close();
  await rm(folder, { recursive: true });
});

// The pages are those of another server than that of the other tests; a refusal is an answer with an error's status.
const elsewhere = { expected: [/^foreign: http:\/\/127\.0\.0\.1:/, /console: Failed to load resource/] };

const linkIn = (mail) => mail.match(/http:\S+#link=[\w-]+/)[0];

async function isSignedIn(tab) {
  await tab.locator('.account-button').click();
  await tab.getByText(email, { exact: true }).waitFor();
  await tab.keyboard.press('Escape');
}

inTab('a link is asked for in one click, signs in by another, and once', async (tab) => {
  await tab.goto(site);
  const clicks = await countClicks(tab);
  await tab.getByLabel('E-mail address').fill(email);
  await accessible(tab, 'the sign-in view');
  await tab.getByRole('button', { name: 'Send me a link' }).click();
  await tab.getByRole('status').filter({ hasText: `If ${email} has an account` }).waitFor();
  assert.equal(await clicks(), 1);
  await accessible(tab, 'a link is sent');
  const mail = await mailbox.nth(1);
  assert.match(mail, /Subject: Your link to sign in to simgraph of Acme/);
  const link = linkIn(mail);
  assert.ok(link.startsWith(`${site}/#link=`), link);

  const opened = await tab.context().newPage();
  await opened.goto(link);
  const more = await countClicks(opened);
  await opened.getByText(`This link signs you in as ${email} of Acme.`).waitFor();
  await opened.getByRole('button', { name: 'Sign in', exact: true }).click();
  await isSignedIn(opened);
  assert.equal(await more(), 2, 'one to sign in, one to see who is signed in');
  await tab.locator('.account-button').waitFor(); // all tabs are signed in
  await opened.goto(`${site}/#/users`);
  await opened.getByRole('button', { name: `Access of ${email}` }).click();
  await opened.getByText('by a link by e-mail').waitFor();

  const late = await browserOf(tab).newContext();
  try {
    const second = await late.newPage();
    await second.goto(link);
    await second.getByRole('alert').filter({ hasText: 'was used before, a newer one has replaced it' }).waitFor();
    await accessible(second, 'a link that was used');
    await second.getByLabel('E-mail address').fill(email);
    await second.getByRole('button', { name: 'Send me a link' }).click();
    await second.goto(linkIn(await mailbox.nth(2)));
    await second.getByRole('button', { name: 'Sign in', exact: true }).click();
    await second.locator('.account-button').waitFor();
  } finally {
    await late.close();
  }
}, elsewhere);

inTab('a link is asked for and used by the keyboard alone, on a narrow screen', async (tab) => {
  const reach = async (name) => {
    for (let presses = 0; presses < 20 && !(await focused(tab)).includes(name); presses++) await tab.keyboard.press('Tab');
    await eventually(() => focused(tab).then((at) => at.includes(name)), true, `the keyboard does not lead to ${name}`);
  };
  await tab.goto(site);
  const field = tab.getByLabel('E-mail address');
  await field.waitFor();
  for (let presses = 0; presses < 20 && !(await field.evaluate((element) => element === document.activeElement)); presses++) await tab.keyboard.press('Tab');
  await tab.keyboard.type(email);
  await tab.keyboard.press('Enter');
  await tab.getByRole('status').filter({ hasText: 'a link is on its way' }).waitFor();
  await accessible(tab, 'a link is sent, on a narrow screen');
  await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'nothing is cut off');
  await tab.goto(linkIn(await mailbox.nth(3)));
  await tab.getByText(`This link signs you in as ${email}`).waitFor();
  await reach('button Sign in');
  await tab.keyboard.press('Enter');
  await tab.locator('.account-button').waitFor();
}, { ...elsewhere, viewport: { width: 390, height: 844 } });

inTab('an address that nobody has is answered alike, and gets no mail', async (tab) => {
  await tab.goto(site);
  await tab.getByLabel('E-mail address').fill('nobody@acme.example');
  await tab.getByRole('button', { name: 'Send me a link' }).click();
  await tab.getByRole('status').filter({ hasText: 'If nobody@acme.example has an account' }).waitFor();
  await tab.getByRole('button', { name: 'Access key', exact: true }).click();
  await tab.getByLabel('Secret').waitFor();
  await tab.waitForTimeout(3_000);
  assert.equal(mailbox.mails.length, 3);
}, elsewhere);

test('where people sign in at a provider, links are mailed only when the operator says so', { timeout: 240_000 }, async () => {
  const config = join(folder, 'providers.json');
  const rules = [{ claim: 'groups', value: 'fleet', company: 'acme', wholeCompany: true, permissions: ['View Subscriber'] }];
  await writeFile(config, JSON.stringify({ providers: [{ name: 'acme', issuer: 'http://127.0.0.1:9', clientId: 'simgraph', rules }] }));
  for (const [args, offered] of [[[], false], [['--mail-links', 'on'], true], [['--oidc-only'], false]]) {
    await stop();
    await start('--oidc-config', config, ...args);
    const { ways } = await (await fetch(`${site}/session`)).json();
    assert.equal(ways.links, offered, args.join(' '));
    const answer = await fetch(`${site}/session/link/mail`, { method: 'POST', headers: { origin: site, 'content-type': 'application/json' }, body: JSON.stringify({ email: 'nobody@acme.example' }) });
    assert.equal(answer.status, offered ? 200 : 404, args.join(' '));
  }
});
