// What opening a place of the page costs the server: each of its reads once. What is polled comes later.
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { base, enter, textOf } from './browser.js';
import { eventually, oneSubscriber, pageTests } from './tab.js';

const inTab = pageTests();

inTab('opening a place reads each of its answers once', async (tab) => {
  const { physicalId } = await oneSubscriber();
  await enter(tab);
  await tab.locator('#places a').first().waitFor();
  const linked = await tab.locator('#places a[href*="#/"]').evaluateAll((links) => links.map((link) => new URL(link.href).hash));
  const places = new Set([...linked, ...['', '?tab=usage', '?tab=sessions', '?tab=history', '?tab=alerts'].map((shown) => `#/subscribers/${physicalId}${shown}`)]);
  assert.ok(places.size > 15, [...places].join());
  const found = [];
  const opened = [];
  for (const place of places) {
    const page = await tab.context().newPage();
    const reads = new Map();
    page.on('request', (request) => {
      if (!/^\s*query/.test(textOf(request))) return;
      const read = `${/\w+ (\w+)/.exec(textOf(request))[1]} ${JSON.stringify(request.postDataJSON().variables ?? {})}`;
      if (performance.now() - reads.get(read) < 5_000) found.push(`${place}: ${read}`);
      reads.set(read, performance.now());
    });
    await page.goto(`${base}/${place}`);
    await page.locator('h1').first().waitFor();
    opened.push({ place, page, reads });
  }
  await sleep(4_000); // what is followed would be read again within three seconds
  for (const { place, page, reads } of opened) {
    assert.ok(reads.size > 0, place);
    await page.close();
  }
  assert.deepEqual(found, []);
});

inTab('a whole ICCID is looked up by an index alone; a part of one, and one that nobody has, by what contains it', async (tab) => {
  const { physicalId } = await oneSubscriber();
  await enter(tab);
  const searches = [];
  tab.on('request', (request) => /query (Search\w*)/.test(textOf(request)) && searches.push(/query (\w+)/.exec(textOf(request))[1]));
  const field = tab.getByRole('combobox', { name: 'Search subscribers' });
  for (const [text, expected] of [[physicalId, ['SearchWhole']], [physicalId.slice(1), ['SearchWhole', 'Search']], [physicalId.slice(-8), ['Search']]]) {
    searches.length = 0;
    await field.fill(text);
    await tab.getByRole('option').filter({ hasText: physicalId }).first().waitFor();
    await eventually(() => searches, expected, text);
    await field.fill('');
  }
  await field.fill('999999999999999999');
  await tab.getByText('No subscriber fits.').waitFor();
});
