// The handbook that the server has: its pages, its links, and what its search finds.
import assert from 'node:assert/strict';
import { base, enter } from './browser.js';
import { run } from './companies.js';
import { accessible, eventually, pageTests } from './tab.js';

const inTab = pageTests();

// What readers ask, and the documents or sections of which one must be among the first three.
const questions = [
  ['rotate an access key', ['/docs/clients', '/docs/operations#keys-and-tokens', '/docs/security']],
  ['how do I back up and restore', ['/docs/operations#backup-and-restore']],
  ['upgrade to a new version', ['/docs/operations#upgrade']],
  ['webhook signature', ['/docs/webhooks', '/docs/sources']],
  ['Apollo Client', ['/docs/clients#apollo-client']],
  ['relay', ['/docs/clients']],
  ['1NCE', ['/docs/sources']],
  ['SFTP', ['/docs/sources#sftp']],
  ['MQTT', ['/docs/connectors']],
  ['Kafka', ['/docs/connectors']],
  ['pgbouncer', ['/docs/operations#pgbouncer']],
  ['citus', ['/docs/operations#citus']],
  ['error codes of the graph', ['/docs/graphql#errors', '/docs/errors']],
  ['price limit of a query', ['/docs/graphql#limits', '/docs/operations#limits']],
  ['silence alerts', ['/docs/graphql#silences', '/docs/glossary']],
  ['what is a billing period', ['/docs/glossary', '/docs/start-analyst#the-period-and-the-zone']],
  ['sign in with Entra ID', ['/docs/sign-in']],
  ['mail server refuses', ['/docs/operations#when-a-mail-server-refuses']],
  ['move an account from another server', ['/docs/sources#the-account-that-you-have']],
  ['import a company from a file', ['/docs/bundles']],
];

inTab('the handbook answers questions by its search', async (tab) => {
  await tab.goto(`${base}/docs/handbook`);
  const field = tab.getByRole('searchbox', { name: 'Search the handbook' });
  const missed = [];
  for (const [question, answers] of questions) {
    await field.fill('');
    await tab.getByRole('list', { name: 'What is found' }).waitFor({ state: 'detached' });
    await field.fill(question);
    const hits = tab.getByRole('list', { name: 'What is found' }).getByRole('link');
    await hits.first().waitFor();
    const first = await hits.evaluateAll((links) => links.slice(0, 3).map((link) => link.getAttribute('href')));
    if (!first.some((href) => answers.some((answer) => href === answer || !answer.includes('#') && href.startsWith(`${answer}#`)))) missed.push(`${question}: ${first.join(', ')}`);
  }
  assert.deepEqual(missed, []);
  await tab.locator('ol.hits a[href^="/docs/bundles"]').first().click();
  await tab.waitForURL(/\/docs\/bundles/);
  await tab.getByRole('heading', { level: 1, name: 'Bundles' }).waitFor();
});

inTab('every page of the handbook can be read', async (tab) => {
  const foreign = [];
  tab.on('request', (request) => request.url().startsWith(base) || foreign.push(request.url()));
  await tab.goto(`${base}/docs/handbook`);
  const contents = tab.getByRole('navigation', { name: 'Handbook' }).getByRole('link');
  const pages = new Set(await contents.evaluateAll((links) => links.map((link) => link.getAttribute('href').split('#')[0])));
  assert.ok(pages.size > 15);
  for (const page of pages) {
    await tab.goto(base + page);
    await tab.getByRole('heading', { level: 1 }).waitFor();
    await accessible(tab, page);
  }
  assert.deepEqual(foreign, []);
});

inTab('who is signed in stands above each document, with the version below its contents', async (tab) => {
  await enter(tab, '#/', run(['token', '--user', 'admin@demo.example'])); // signing out revokes it
  for (const page of ['/docs/handbook', '/docs/clients', '/docs']) {
    await tab.goto(base + page);
    await tab.getByRole('button', { name: 'Firing now' }).waitFor();
    await tab.locator('.account-button').click();
    await tab.getByText('Sees the whole company').waitFor();
  }
  await tab.goto(`${base}/docs/handbook`);
  await eventually(() => tab.locator('.contents .version').innerText(), /^simgraph \S+/);
  await tab.locator('.account-button').click();
  await tab.getByRole('button', { name: 'Sign out' }).click();
  await tab.locator('.account-button').waitFor({ state: 'detached' });
  await tab.getByRole('heading', { level: 1, name: 'Handbook' }).waitFor();
});
