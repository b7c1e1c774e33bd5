// Where usage comes from, as the page shows it.
import { before } from 'node:test';
import { enter } from './browser.js';
import { account, interim } from './radius.js';
import { accessible, eventually, pageTests } from './tab.js';

const inTab = pageTests();
const nowhere = '999990000000001';

before(async () => {
  await account(interim, { session: 'of-nobody', imsi: nowhere, seconds: 60, sent: 5_000, address: '10.99.1.1' });
  await account(9, { session: 'odd', imsi: nowhere, seconds: 60, sent: 5_000, address: '10.99.1.1' });
});

inTab('the sources show what became of their packets', async (tab) => {
  await enter(tab);
  await tab.getByRole('link', { name: 'Sources' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Sources' }).waitFor();
  const element = tab.getByRole('row').filter({ hasText: 'e2e-gateway' });
  await element.getByText(/subscriber unknown/).waitFor();
  await element.getByText(/unusable/).waitFor();
  const waiting = tab.getByRole('row').filter({ hasText: `IMSI ${nowhere}` });
  await waiting.getByText(/^5(\.00)?\skB$/).waitFor();
  await tab.getByRole('row').filter({ hasText: 'Acct-Status-Type 9 is not supported' }).getByText('e2e-gateway of').waitFor();
});

for (const colorScheme of ['light', 'dark']) {
  inTab(`the sources can be read on a phone in ${colorScheme} colours`, async (tab) => {
    await enter(tab, '#/sources');
    await tab.getByRole('row').filter({ hasText: 'Acct-Status-Type 9' }).waitFor();
    await accessible(tab, 'the sources');
    await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth), 390);
  }, { colorScheme, viewport: { width: 390, height: 844 } });
}
