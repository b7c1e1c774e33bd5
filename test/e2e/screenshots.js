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
const drawn = (tab) => tab.locator('.plot canvas, .bars li').first().waitFor();
const views = {
  overview: ['#/', async (tab) => {
    await drawn(tab);
    await tab.getByRole('button', { name: 'Dismiss' }).click();
  }],
  subscriber: [`#/subscribers/${physicalId}`, drawn],
  subscribers: ['#/subscribers?where=nickname.like.van&order=DATA_USAGE.DESC', (tab) => tab.locator('table.rows tbody tr').first().waitFor()],
  'new-alert': ['#/alerts/new?rule=COMPANY', async (tab) => {
    await tab.getByLabel('Lower threshold').fill('5 MB');
    await tab.locator('.back-test .plot canvas').waitFor();
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
for (const name of ['overview', 'subscriber', 'subscribers', 'explore']) await shoot(`${name}-1440`, 'light', ...views[name]);
for (const name of ['overview', 'new-alert']) await shoot(`${name}-dark-1440`, 'dark', ...views[name]);
await browser.close();

async function shoot(name, colorScheme, place, ready) {
  const { tab, close } = await openTab(browser, { viewport: { width: 1440, height: 900 }, colorScheme });
  await enter(tab, place);
  await ready(tab);
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // for all that is drawn beside it
  await tab.screenshot({ path: `${folder}/${name}.png` });
  await close();
}
