// Access keys on the page: named, rotated with an overlap, and seen to end.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { base, enter, graph } from './browser.js';
import { accessible, countClicks, eventually, pageTests, pick } from './tab.js';

const inTab = pageTests();

const exchange = (id, secret) => fetch(`${base}/oauth/token`, { method: 'POST', body: new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret }) });
const keys = async () => new Map((await graph('{ accessKeys(first: 100) { nodes { accessKeyId name purpose rotatedFrom userEmail scopes expiresAt lastUsedAt revokedAt } } }')).accessKeys.nodes.map((key) => [key.accessKeyId, key]));
const revoke = (id) => graph('mutation($id: String!) { revokeAccessKey(input: { accessKeyId: $id }) { accessKey { accessKeyId } } }', { id });

async function shown(tab) {
  await tab.getByText('it cannot be shown again').waitFor();
  return tab.locator('#made-title').locator('xpath=../..').locator('dd').allTextContents();
}

inTab('a key with a name and a purpose is rotated in four clicks: both work until the old one ends at the time that is chosen', async (tab) => {
  await enter(tab, '#/users/keys');
  await tab.getByRole('button', { name: 'New key' }).click();
  const making = tab.getByRole('dialog', { name: 'New access key' });
  await making.getByLabel('Name', { exact: true }).fill('Billing export');
  await making.getByLabel('What uses it, and what for').fill('Nightly, on reports-2');
  await pick(making, 'User', 'analyst@demo.example');
  await accessible(tab, 'a new key');
  await making.getByRole('button', { name: 'Make the key' }).click();
  const [oldId, oldSecret] = await shown(tab);
  await tab.getByRole('button', { name: 'Done' }).click();
  assert.equal((await exchange(oldId, oldSecret)).status, 200);

  const clicks = await countClicks(tab);
  await tab.getByRole('button', { name: 'Rotate Billing export' }).click();
  const rotating = tab.getByRole('dialog', { name: 'Rotate Billing export' });
  await rotating.getByRole('button', { name: 'In a day' }).click();
  await accessible(tab, 'a rotation');
  await rotating.getByRole('button', { name: 'Rotate the key' }).click();
  const [newId, newSecret] = await shown(tab);
  await tab.getByText(`The old key ${oldId} works until`).waitFor();
  await tab.getByRole('button', { name: 'Copy both' }).click();
  assert.equal(await clicks(), 4);
  await accessible(tab, 'a rotated key');
  await eventually(() => tab.evaluate(() => navigator.clipboard.readText()), `${newId} ${newSecret}`);

  const all = await keys();
  const [before, after] = [all.get(oldId), all.get(newId)];
  assert.deepEqual([after.name, after.purpose, after.userEmail, after.scopes, after.rotatedFrom, after.lastUsedAt], ['Billing export', 'Nightly, on reports-2', before.userEmail, before.scopes, oldId, null]);
  assert.equal(before.revokedAt, null);
  assert.ok(before.lastUsedAt);
  assert.ok(Math.abs(Date.parse(before.expiresAt) - Date.now() - 86_400_000) < 120_000, before.expiresAt);
  for (const [id, secret] of [[oldId, oldSecret], [newId, newSecret]]) assert.equal((await exchange(id, secret)).status, 200, id);
  await revoke(oldId);
  await revoke(newId);
});

inTab('a key is limited to trusted documents: its tokens run no text, until it is free again', async (tab) => {
  await enter(tab, '#/users/keys');
  await tab.getByRole('button', { name: 'New key' }).click();
  const making = tab.getByRole('dialog', { name: 'New access key' });
  await making.getByLabel('Name', { exact: true }).fill('App');
  await making.getByLabel('Trusted documents only').check();
  await making.getByRole('button', { name: 'Make the key' }).click();
  const [id, secret] = await shown(tab);
  await tab.getByRole('button', { name: 'Done' }).click();
  const row = tab.getByRole('row').filter({ hasText: id });
  await row.getByText('documents', { exact: true }).waitFor();
  const { access_token } = await (await exchange(id, secret)).json();
  const code = async () => (await (await fetch(`${base}/graphql`, { method: 'POST', headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${access_token}` }, body: '{"query": "{ company { name } }"}' })).json()).errors?.[0].extensions.code;
  assert.equal(await code(), 'DOCUMENT_REQUIRED');
  await row.getByRole('button', { name: 'Rename App' }).click();
  const editing = tab.getByRole('dialog', { name: 'Rename App' });
  await editing.getByLabel('Trusted documents only').uncheck();
  await editing.getByRole('button', { name: 'Save' }).click();
  await row.getByText('all', { exact: true }).waitFor();
  for (let tries = 0; (await code()) && tries < 50; tries++) await new Promise((done) => setTimeout(done, 100));
  assert.equal(await code(), undefined);
  await revoke(id);
});

inTab('a key is renamed, and one that has ended cannot be rotated', async (tab) => {
  await enter(tab, '#/users/keys');
  const { createAccessKey } = await graph('mutation { createAccessKey(input: { userEmail: "analyst@demo.example", scope: { permissions: [VIEW_SUBSCRIBER] } }) { accessKey { accessKeyId } } }');
  const { accessKeyId } = createAccessKey.accessKey;
  await tab.reload();
  const row = tab.getByRole('row').filter({ hasText: accessKeyId });
  await row.getByRole('button', { name: `Rename ${accessKeyId}` }).click();
  const dialog = tab.getByRole('dialog', { name: `Rename ${accessKeyId}` });
  await dialog.getByLabel('Name', { exact: true }).fill('Dashboards');
  await dialog.getByLabel('What uses it, and what for').fill('The wall in the office');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await row.getByText('The wall in the office').waitFor();
  await row.getByRole('button', { name: 'Rename Dashboards' }).waitFor();
  await accessible(tab, 'access keys');
  await row.getByRole('button', { name: 'Revoke Dashboards' }).click();
  await tab.getByRole('button', { name: 'Revoke the key' }).click();
  await row.getByText('revoked').waitFor();
  await eventually(() => row.getByRole('button', { name: /^Rotate/ }).count(), 0);
}, { viewport: { width: 390, height: 844 } });

inTab('trusted documents stand beside the keys, with their text and whether they run', async (tab) => {
  const folder = await mkdtemp(join(tmpdir(), 'simgraph-documents-'));
  const file = join(folder, 'vans.graphql');
  await writeFile(file, '"How many vans there are."\nquery CountVans { subscribers(filter: { nickname: { like: "van" } }) { totalCount } }');
  const { SIMGRAPH_DATA_DIR } = process.env;
  await promisify(execFile)(join(import.meta.dirname, '../../simgraph'), ['documents', 'add', file, '--company', 'demo', '--tool', '--data-dir', SIMGRAPH_DATA_DIR]);
  await rm(folder, { recursive: true });
  await enter(tab, '#/users/keys');
  await tab.getByRole('link', { name: 'Trusted documents' }).click();
  const row = tab.getByRole('row').filter({ hasText: 'CountVans' });
  await row.getByText('count_vans').waitFor();
  await row.getByText('runs', { exact: true }).waitFor();
  await accessible(tab, 'trusted documents');
  await row.getByRole('button', { name: 'CountVans' }).click();
  const dialog = tab.getByRole('dialog', { name: 'CountVans' });
  await dialog.getByText('query CountVans').waitFor();
  await accessible(tab, 'a trusted document');
});
