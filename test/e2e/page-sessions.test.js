// What the network reports of subscribers, as the page shows it by itself.
import assert from 'node:assert/strict';
import { enter, graph } from './browser.js';
import { account, interim, start, stop } from './radius.js';
import { accessible, eventually, oneSubscriber, pageTests } from './tab.js';

const inTab = pageTests();

const online = async () => (await graph('{ company { fleet { online } } }')).company.fleet.online;

/** A subscriber that is offline and of which no session was reported. */
async function silent() {
  const { subscribers } = await graph(`{ subscribers(last: 100, filter: { kind: { eq: CELLULAR }, isActive: { eq: true }, networkState: { isOnline: { eq: false } } }) { nodes { physicalId imsi sessions(first: 1) { nodes { id } } } } }`);
  return subscribers.nodes.find(({ sessions }) => sessions.nodes.length === 0);
}

inTab('a session that begins moves the counts of the overview', async (tab) => {
  const { imsi } = await silent();
  await enter(tab);
  const tile = tab.locator('.tile.online strong');
  const before = await online();
  await tile.filter({ hasText: new RegExp(`^${before}$`) }).waitFor();
  await account(start, { session: `count-${imsi}`, imsi, seconds: 0, sent: 0, address: '10.99.0.1' });
  await tile.filter({ hasText: new RegExp(`^${before + 1}$`) }).waitFor();
  assert.equal(await online(), before + 1);
});

inTab('the page of a subscriber shows its sessions, and follows them', async (tab) => {
  const { physicalId, imsi } = await silent();
  const session = { session: `page-${imsi}`, imsi, address: '10.99.0.7' };
  await enter(tab, `#/subscribers/${physicalId}?tab=sessions`);
  const panel = tab.getByRole('region', { name: 'Sessions' });
  await panel.getByText('No network element has reported a session.').waitFor();
  await account(start, { ...session, seconds: 0, sent: 0 });
  await panel.getByText('10.99.0.7 · iot.example · 26201 Germany · EUTRAN · IMEI').waitFor();
  await panel.getByText('last seen').waitFor();
  const record = tab.getByRole('region', { name: 'Record' });
  await record.getByText('online', { exact: true }).waitFor();
  await account(interim, { ...session, seconds: 10, sent: 7_500_000 });
  await panel.getByText(/^7\.50?\sMB$/).waitFor();
  await account(stop, { ...session, seconds: 20, sent: 8_000_000 });
  await panel.getByText('ended by').waitFor();
  await panel.getByText(/^8(\.00)?\sMB$/).waitFor();
  await record.getByText('offline', { exact: true }).waitFor();
  await eventually(() => panel.getByRole('listitem').count(), 1);
});

inTab('sessions beyond the newest ten are on pages of their own', async (tab) => {
  const { physicalId, imsi } = await silent();
  for (let n = 0; n < 12; n++) {
    await account(stop, { session: `paged-${n}-${imsi}`, imsi, address: `10.99.1.${n}`, seconds: (12 - n) * 60, sent: 0 });
  }
  await enter(tab, `#/subscribers/${physicalId}?tab=sessions`);
  const panel = tab.getByRole('region', { name: 'Sessions' });
  const shown = (n) => panel.getByText(new RegExp(`^10\\.99\\.1\\.${n} · `));
  await shown(11).waitFor();
  await eventually(() => panel.getByRole('listitem').count(), 10);
  await eventually(() => panel.getByRole('button', { name: 'Newer' }).isDisabled(), true);
  await panel.getByRole('button', { name: 'Older' }).click();
  await shown(0).waitFor();
  await eventually(() => panel.getByRole('listitem').count(), 2);
  await eventually(() => panel.getByRole('button', { name: 'Older' }).isDisabled(), true);
  await panel.getByRole('button', { name: 'Newer' }).click();
  await shown(11).waitFor();
  await eventually(() => shown(0).count(), 0);
});

inTab('the usage of a subscriber is split by protocol', async (tab) => {
  const { physicalId } = await oneSubscriber();
  await enter(tab, `#/subscribers/${physicalId}`);
  const shares = tab.getByRole('list', { name: 'Usage by protocol over 30 days' }).getByRole('listitem');
  await shares.first().waitFor();
  const shown = await shares.locator('.bar-label').allTextContents();
  const { company } = await graph('{ company { usage { breakdown(by: PROTOCOL, first: 100) { value } } } }');
  const known = company.usage.breakdown.map(({ value }) => value);
  assert.ok(shown.length > 1 && shown.every((protocol) => known.includes(protocol)), shown.join());
});

for (const colorScheme of ['light', 'dark']) {
  inTab(`a session has its address, network and device, on a phone in ${colorScheme} colours too`, async (tab) => {
    await enter(tab, '#/subscribers/89441000000000000000?tab=sessions');
    const panel = tab.getByRole('region', { name: 'Sessions' });
    await panel.getByText('10.98.0.7 · iot.example · 26201 Germany · EUTRAN · IMEI 35693803564380901 · pgw-berlin · ended by User-Request').waitFor();
    await panel.getByText(/^1\.50?\sMB$/).waitFor();
    await accessible(tab, 'a subscriber with sessions');
    await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth), 390);
  }, { colorScheme, viewport: { width: 390, height: 844 } });
}
