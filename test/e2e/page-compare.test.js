// Why one SIM uses so much: its own past, its group, its sessions and its protocols.
import assert from 'node:assert/strict';
import { enter, graph, textOf } from './browser.js';
import { accessible, countClicks, eventually, oneSubscriber, pageTests } from './tab.js';

const inTab = pageTests();

/** A subscriber with a group and a session of the last hours, and its usage of 30 days as the graph adds it up. */
async function used() {
  const physicalId = '89441000000000000000';
  const at = new Date().toISOString();
  await graph('mutation($input: RecordUsageInput!) { recordUsage(input: $input) { results { status } } }', { input: { records: [
    { source: 'e2e', recordId: `compare-${at}`, physicalId, startedAt: at, endedAt: at, mobileOriginated: '5000000', mobileTerminated: '0', protocol: 'TCP' },
  ] } });
  return (await graph('query($physicalId: String!) { subscriber(by: {physicalId: $physicalId}) { physicalId group { groupId name } } }', { physicalId })).subscriber;
}

for (const options of [{}, { colorScheme: 'dark' }, { viewport: { width: 390, height: 844 } }]) {
  const name = options.viewport ? 'on a phone' : options.colorScheme ? 'in dark colours' : 'in light colours';
  inTab(`the usage of a SIM stands beside its past and the median of its group, ${name}`, async (tab) => {
    const { physicalId, group } = await used();
    let asked;
    tab.on('request', (request) => {
      if (textOf(request).includes('UsageOfSubscriber')) asked = request.postDataJSON().variables;
    });
    await enter(tab, `#/subscribers/${physicalId}`);
    const compared = tab.getByRole('region', { name: 'Usage' }).getByRole('list', { name: 'Usage compared' });
    await compared.getByText(`Median of ${group.name}`).waitFor();
    await eventually(() => compared.getByRole('listitem').count(), 3);
    const [before, start] = [Date.parse(asked.before), Date.parse(asked.start)];
    assert.ok(Math.abs(start - before - 30 * 86_400_000) <= 3_600_000, 'the span before has 30 days, of which one may have 23 or 25 hours');
    await tab.getByRole('region', { name: 'Usage' }).locator('.plot .u-legend').getByText('The span before').waitFor();
    await tab.getByText('The numbers as a table').click();
    await tab.getByRole('region', { name: 'Usage' }).getByText(/^Compared: [+−].* on the span before, .* times the median of the \d+ of /).waitFor();
    await accessible(tab, 'usage compared');
    await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'the page is wider than its window');
    if (process.env.SIMGRAPH_PICTURES) await tab.screenshot({ path: `${process.env.SIMGRAPH_PICTURES}/${name.replaceAll(' ', '-')}.png`, fullPage: true });
  }, options);
}

inTab('from the page of a SIM it takes three clicks to the sessions of an hour, and one to the protocols of its group', async (tab) => {
  const { physicalId, group } = await used();
  await enter(tab, `#/subscribers/${physicalId}`);
  const usage = tab.getByRole('region', { name: 'Usage', exact: true });
  await usage.getByRole('list', { name: 'Usage by protocol over 30 days' }).waitFor();
  const clicks = await countClicks(tab);
  await usage.getByRole('button', { name: '24 hours' }).click();
  await usage.getByText(/^By hour/).waitFor();
  await usage.getByText('The numbers as a table').click();
  const rows = usage.getByRole('region', { name: 'Usage over 24 hours' }).locator('tbody tr');
  await rows.nth(-2).getByRole('link').click(); // the session ran in the whole hour before this one, or in a part of it
  const sessions = tab.getByRole('region', { name: 'Sessions', exact: true });
  await sessions.getByText(/^That ran from /).waitFor();
  await sessions.getByText(/^10\.98\.0\.7/).waitFor();
  assert.equal(await clicks(), 3);
  await accessible(tab, 'the sessions of an hour');
  await tab.goBack();
  await usage.getByText('The numbers as a table').click();
  await usage.getByRole('region', { name: 'Usage over 24 hours' }).locator('tbody tr').first().getByRole('link').click();
  await sessions.getByText('No session was reported that ran in this span.').waitFor();
  await sessions.getByRole('link', { name: 'All sessions' }).click();
  await sessions.getByText(/^10\.98\.0\.7/).waitFor();

  // A click on a bar leads to the sessions of its step, too.
  await tab.getByRole('tab', { name: 'Usage' }).click();
  await usage.getByText(/^By hour/).waitFor(); // the span is still that of before
  const over = usage.locator('.plot .u-over');
  await over.scrollIntoViewIfNeeded();
  const { width, height } = await over.boundingBox();
  await over.click({ position: { x: width / 2, y: height / 2 } });
  await sessions.getByText(/^That ran from /).waitFor();

  await tab.goBack();
  const before = await clicks();
  await usage.getByRole('link', { name: `How ${group.name} uses the protocols` }).click();
  await tab.locator('.usage .legend.sums').getByText('TCP').waitFor();
  assert.equal(await clicks() - before, 1);
  await accessible(tab, 'the protocols of a group');
});

inTab('an address with a span that is none shows all sessions', async (tab) => {
  const { physicalId } = await oneSubscriber();
  await enter(tab, `#/subscribers/${physicalId}?from=yesterday&to=`);
  await tab.getByRole('region', { name: 'Sessions', exact: true }).getByText(/^No network element|–/).first().waitFor();
  await eventually(() => tab.getByText('That ran from').count(), 0);
});
