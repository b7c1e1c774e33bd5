// Questions and dashboards are sent by mail from the page: previewed, sent now, paused and deleted.
import assert from 'node:assert/strict';
import { enter, graph } from './browser.js';
import { accessible, countClicks, eventually, pageTests } from './tab.js';

const inTab = pageTests();

const reports = async () => (await graph('{ company { reports(first: 10) { nodes { reportId recipients isPaused lastSentAt lastFailure endedReason question { name } } } } }')).company.reports.nodes;

inTab('usage by group by day of last month is sent in six clicks', async (tab) => {
  await enter(tab);
  await tab.locator('.tile').first().waitFor();
  const clicks = await countClicks(tab);
  await tab.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Usage', exact: true }).click();
  await tab.getByRole('link', { name: 'Usage by group by day, last month', exact: true }).click();
  await tab.getByRole('button', { name: 'Send by mail…' }).click();
  const dialog = tab.getByRole('dialog', { name: 'Send by mail' });
  await dialog.getByLabel('To', { exact: true }).fill('nobody@elsewhere.example');
  await dialog.getByLabel('Send one now, too').click();
  await accessible(tab, 'sending a question by mail');
  await dialog.getByRole('button', { name: 'Send by mail' }).click();
  await dialog.getByRole('alert').filter({ hasText: 'no enabled user' }).waitFor();
  await dialog.getByLabel('To', { exact: true }).fill('admin@demo.example');
  await dialog.getByRole('button', { name: 'Send by mail' }).click();
  await dialog.waitFor({ state: 'detached' });
  assert.ok((await clicks()) <= 6, `${await clicks()} clicks`);
  await eventually(async () => Boolean((await reports())[0]?.lastSentAt), true, 'the report is sent');
  const [one] = await reports();
  assert.deepEqual([one.recipients, one.lastFailure, one.endedReason], [['admin@demo.example'], null, null]);
  await eventually(async () => (await graph('{ deliveries(first: 20) { nodes { recipientName state } } }')).deliveries.nodes.some(({ recipientName, state }) => recipientName === 'admin@demo.example' && state === 'DELIVERED'), true, 'the mail is taken');

  // What is sent is shown before; it is paused, and deleted with a way back.
  await tab.reload();
  await tab.getByRole('button', { name: 'Send by mail…' }).click();
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByText('In all:').waitFor();
  await accessible(tab, 'the preview of a report');
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const sent = tab.getByRole('region', { name: 'Sent by mail' });
  await sent.getByRole('button', { name: `Pause the report of ${one.question.name}` }).click();
  await sent.getByText('paused').waitFor();
  assert.equal((await reports())[0].isPaused, true);
  await sent.getByRole('button', { name: `Delete the report of ${one.question.name}` }).click();
  await tab.getByText(`The report of ${one.question.name} is deleted.`).waitFor();
  await eventually(async () => (await reports()).length, 0, 'the report is gone');
});

inTab('a dashboard is previewed, sent from its page, and listed with the other reports', async (tab) => {
  const definition = { measure: 'TOTAL', interval: 'DAY', split: 'GROUP', chart: 'STACKED', span: 'TODAY' };
  const input = { name: `Board ${Date.now()}`, common: { span: 'LAST_7_DAYS' }, tiles: [{ column: 0, row: 0, width: 6, height: 8, definition }, { column: 6, row: 0, width: 6, height: 8, definition: { ...definition, split: 'TAG' } }] };
  const { createDashboard } = await graph('mutation($input: CreateDashboardInput!) { createDashboard(input: $input) { dashboard { dashboardId } } }', { input });
  await enter(tab, `#/dashboards/${createDashboard.dashboard.dashboardId}`);
  await tab.getByRole('button', { name: 'Send by mail…' }).click();
  const dialog = tab.getByRole('dialog', { name: 'Send by mail' });
  await dialog.getByRole('button', { name: 'Preview' }).click();
  await dialog.getByText('Bytes by tag by day').waitFor();
  await accessible(tab, 'sending a dashboard by mail');
  await dialog.getByRole('button', { name: 'Send by mail' }).click();
  await dialog.waitFor({ state: 'detached' });
  await tab.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Usage', exact: true }).click();
  const sent = tab.getByRole('region', { name: 'Sent by mail' });
  await sent.getByRole('link', { name: input.name, exact: true }).waitFor();
  await sent.getByRole('button', { name: `Delete the report of ${input.name}` }).click();
  await eventually(async () => (await reports()).length, 0, 'the report is gone');
});
