// The page of a subscriber: its facts beside tabs, which are addresses.
import assert from 'node:assert/strict';
import { enter, graph, textOf } from './browser.js';
import { accessible, eventually, focused, pageTests } from './tab.js';

const inTab = pageTests();

// The subscriber of whom a gateway reported a session (run.sh).
const physicalId = '89441000000000000000';
const named = (tab, name) => tab.getByRole('tab', { name, exact: true });
const shown = (tab, name) => tab.locator('[role="tab"][aria-selected="true"]').getByText(name, { exact: true }).waitFor();

/** What each tab asks for, by the names of the operations, and what it shows then. */
const parts = {
  Usage: [/^UsageOfSubscriber$/, 'Usage'],
  Sessions: [/^Sessions$/, 'Sessions'],
  Alerts: [/^AlertsOfSubscriber$/, 'Alerts'],
  History: [/^(TimeLine\w+|CommandsOfSubscriber)$/, 'Time line'],
};

inTab('tabs are opened by arrow keys, links and Back, and what a tab shows is asked for when it is opened', async (tab) => {
  let asked = new Set();
  tab.on('request', (request) => {
    const name = /^\s*query (\w+)/.exec(textOf(request))?.[1];
    if (name) asked.add(name);
  });
  const asks = (of) => [...asked].some((name) => parts[of][0].test(name));
  await enter(tab, `#/subscribers/${physicalId}`);
  await tab.locator('.plot canvas').waitFor();
  await shown(tab, 'Usage');
  assert.deepEqual(Object.keys(parts).filter(asks), ['Usage']);

  await named(tab, 'Usage').focus();
  for (const [key, at] of [['ArrowLeft', 'History'], ['ArrowRight', 'Usage'], ['End', 'History'], ['Home', 'Usage'], ['ArrowRight', 'Sessions']]) {
    await tab.keyboard.press(key);
    await eventually(() => focused(tab), `a ${at}`);
  }
  await shown(tab, 'Usage');
  assert.deepEqual(Object.keys(parts).filter(asks), ['Usage'], 'moving between tabs asks for nothing');
  for (const [name, key] of [['Sessions', 'Enter'], ['Alerts', ' '], ['History', 'Enter']]) {
    asked = new Set();
    await named(tab, name).focus();
    await tab.keyboard.press(key);
    await shown(tab, name);
    await tab.getByRole('tabpanel', { name }).getByRole('region', { name: parts[name][1], exact: true }).waitFor();
    await tab.waitForFunction(() => !document.querySelector('.waiting, .loading, [aria-busy="true"]'));
    await eventually(() => focused(tab), `a ${name}`);
    await eventually(() => new URL(tab.url()).hash, `#/subscribers/${physicalId}?tab=${name.toLowerCase()}`);
    assert.deepEqual(Object.keys(parts).filter(asks), [name]);
  }
  for (const name of ['Alerts', 'Sessions', 'Usage']) {
    await tab.goBack();
    await shown(tab, name);
  }
  await tab.reload();
  await shown(tab, 'Usage');
});

inTab('an address with a span of sessions opens them, with the focus in the tab, and a span of usage is kept', async (tab) => {
  await enter(tab, `#/subscribers/${physicalId}?from=2026-01-01T00:00:00Z&to=2099-01-01T00:00:00Z`);
  await shown(tab, 'Sessions');
  await tab.getByText(/^That ran from 1 Jan 2026/).waitFor();
  await named(tab, 'Usage').click();
  await tab.getByRole('region', { name: 'Usage', exact: true }).getByRole('button', { name: '7 days' }).click();
  await tab.getByText('The numbers as a table').click();
  await tab.getByRole('region', { name: 'Usage over 7 days' }).getByRole('link').first().press('Enter');
  await shown(tab, 'Sessions');
  await eventually(() => tab.evaluate(() => document.activeElement.getAttribute('role')), /tabpanel/);
  await tab.getByRole('link', { name: 'All sessions' }).click();
  await tab.getByText('That ran from').waitFor({ state: 'detached' });
  await shown(tab, 'Sessions');
  await named(tab, 'Usage').click();
  await tab.getByRole('button', { name: '7 days', pressed: true }).waitFor();
});

inTab('an alert that was typed is left for another tab only after a question', async (tab) => {
  await enter(tab, `#/subscribers/${physicalId}?tab=alerts`);
  await tab.getByRole('button', { name: 'Set an alert' }).click();
  await tab.getByLabel(/Lower threshold/).fill('123 MB');
  const question = tab.getByRole('dialog', { name: 'Discard what you typed?' });
  await named(tab, 'History').click();
  await question.getByRole('button', { name: 'Keep editing' }).click();
  await shown(tab, 'Alerts');
  await eventually(() => tab.getByLabel(/Lower threshold/).inputValue(), '123 MB');
  await named(tab, 'History').click();
  await question.getByRole('button', { name: 'Discard' }).click();
  await shown(tab, 'History');
});

for (const colorScheme of ['light', 'dark'])
  for (const width of [1440, 390])
    inTab(`facts stand beside the tabs, or above them and folded on a phone: ${width} wide in ${colorScheme} colours`, async (tab) => {
      const attach = (mutation) => Promise.all(Array.from({ length: 9 }, (_, i) => graph(mutation, { input: { tagName: `rail ${i}`, physicalIds: [physicalId] } })));
      await attach('mutation($input: AttachTagInput!) { attachTag(input: $input) { attached } }');
      try {
        await enter(tab, `#/subscribers/${physicalId}`);
        await tab.locator('.plot canvas').waitFor();
        const record = tab.getByRole('region', { name: 'Record', exact: true });
        const tags = tab.getByRole('list', { name: 'Tags of the subscriber' });
        const [rail, list] = await Promise.all([tab.locator('.rail').boundingBox(), tab.getByRole('tablist').boundingBox()]);
        if (width === 390) {
          assert.ok(rail.y + rail.height <= list.y, 'the facts stand above the tabs');
          await eventually(() => record.getByText('Operator', { exact: true }).isHidden(), true);
          await eventually(() => tags.getByText('rail 8').isHidden(), true);
          await record.getByRole('button', { name: /^All \d+ facts$/ }).click();
          await tab.getByRole('button', { name: /^All \d+ tags$/ }).click();
        } else {
          assert.ok(rail.x + rail.width <= list.x && rail.y <= list.y, 'the facts stand beside the tabs');
          await eventually(() => record.getByRole('button').count(), 0);
        }
        await record.getByText('Operator', { exact: true }).waitFor();
        await tags.getByText('rail 8').waitFor();
        for (const name of Object.keys(parts)) {
          await named(tab, name).click();
          await tab.getByRole('tabpanel', { name }).locator('.panel').first().waitFor();
          await tab.waitForFunction(() => !document.querySelector('.waiting, .loading, [aria-busy="true"]'));
          await accessible(tab, `a subscriber, ${name}`);
          await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth), width, name);
        }
      } finally {
        await attach('mutation($input: DetachTagInput!) { detachTag(input: $input) { subscribers { physicalId } } }');
      }
    }, { colorScheme, viewport: { width, height: 844 } });
