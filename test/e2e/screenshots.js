// Takes the pictures of the documentation from a demo server:
// SIMGRAPH_BASE=… SIMGRAPH_TOKEN=… node screenshots.js ../../docs/screenshots
import { mkdir } from 'node:fs/promises';
import { enter, graph, launch, openTab } from './browser.js';

const folder = process.argv[2] ?? '../../docs/screenshots';
const { company: { sessions }, subscribers } = await graph(`{
  company { sessions(first: 1) { nodes { subscriber { physicalId } } } }
  subscribers(first: 1, orderBy: [{ field: DATA_USAGE, direction: DESC }]) { nodes { physicalId } }
}`);
const { physicalId } = sessions.nodes[0]?.subscriber ?? subscribers.nodes[0];
const sizes = { 1440: { width: 1440, height: 900 }, 390: { width: 390, height: 844 } };

const drawn = (tab) => tab.locator('.plot canvas, .bars li').first().waitFor();
const views = {
  overview: ['#/', drawn],
  subscriber: [`#/subscribers/${physicalId}`, async (tab) => {
    await drawn(tab);
    await tab.getByRole('button', { name: 'Set an alert' }).click();
    await tab.getByText(/would (not )?have fired/).waitFor();
  }],
  subscribers: ['#/subscribers?where=nickname.like.van&order=DATA_USAGE.DESC', (tab) => tab.locator('table.rows tbody tr').first().waitFor()],
  alerts: ['#/alerts', (tab) => tab.locator('table.rows tbody tr').first().waitFor()],
  'new-alert': ['#/alerts/new?rule=COMPANY', async (tab) => {
    await tab.getByLabel('Lower threshold').fill('5 MB');
    await tab.locator('.back-test .plot canvas').waitFor();
  }],
  group: ['#/groups/2', drawn],
  audit: ['#/audit', (tab) => tab.locator('table.rows tbody tr').first().waitFor()],
  sources: ['#/sources', (tab) => tab.locator('table.rows tbody tr').first().waitFor()],
  connect: ['#/sources/connect/webhook', async (tab) => {
    await tab.getByLabel('Profile', { exact: true }).selectOption('1nce');
    await tab.getByLabel('A sample of what it sends').fill(JSON.stringify([{ id: 1, sim: { iccid: physicalId }, start_timestamp: '2026-11-20T10:00:00Z', end_timestamp: '2026-11-20T10:10:00Z', traffic_type: { id: 5 }, volume: { tx: 1.5, rx: 0.25 } }, { id: 2, traffic_type: { id: 6 } }]));
    await tab.getByRole('region', { name: 'Table of the sample' }).waitFor();
  }],
  explore: ['#/explore', async (tab) => {
    await tab.locator('.monaco-editor').first().waitFor();
    await tab.getByRole('button', { name: /^Usage over time/ }).click();
    await drawn(tab);
    await tab.mouse.move(0, 0);
  }],
};

await mkdir(folder, { recursive: true });
const browser = await launch();
for (const [width, viewport] of Object.entries(sizes))
  for (const [name, [place, ready]] of Object.entries(views)) await shoot(`${name}-${width}`, { viewport }, place, ready);
for (const name of ['overview', 'subscribers', 'new-alert']) await shoot(`${name}-dark-1440`, { viewport: sizes[1440], colorScheme: 'dark' }, ...views[name]);
await shoot('rest-1440', { viewport: sizes[1440] }, 'docs', (tab) => tab.locator('.opblock').first().waitFor());
await browser.close();

async function shoot(name, options, place, ready) {
  const { tab, close } = await openTab(browser, options);
  await enter(tab, place);
  await ready(tab);
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // for all that is drawn beside it
  await tab.screenshot({ path: `${folder}/${name}.png` });
  await close();
}
