// The span of the overview: its figures, chart and top talkers, by the address.
import assert from 'node:assert/strict';
import { enter, graph, textOf } from './browser.js';
import { accessible, downloaded, eventually, pageTests } from './tab.js';

const inTab = pageTests();

const span = (tab, name) => tab.getByRole('navigation', { name: 'Span of the usage' }).getByRole('link', { name, exact: true });
const sums = 'totals { total mobileTerminated mobileOriginated sessions } series(interval: DAY) { start total } topSubscribers(first: 10) { subscriber { physicalId } total }';

/** The totals of the days of the span that was asked for, which is n days of the zone up to this hour, and of those before. */
async function ofDays({ start, end, before }, n, timeZone) {
  const dayOf = (at) => new Date(at).toLocaleString('sv-SE', { timeZone }).slice(0, 16);
  assert.match(dayOf(start), / 00:00$/);
  assert.match(dayOf(before), / 00:00$/);
  const days = (from, to) => Math.round((Date.parse(dayOf(to).slice(0, 10)) - Date.parse(dayOf(from).slice(0, 10))) / 86_400_000);
  assert.deepEqual([days(start, Date.parse(end) - 1), days(before, start)], [n - 1, n]);
  const { company } = await graph('query($start: DateTime!, $end: DateTime!) { company { usage(start: $start, end: $end) { series(interval: DAY) { total } } } }', { start, end });
  return company.usage.series.map(({ total }) => total);
}

inTab('the usage of the overview is that of the span that is chosen, and Back leads to the one before', async (tab) => {
  const { company } = await graph(`{ company { timeZone usage { ${sums} previous { ${sums} } } } }`);
  let asked;
  tab.on('request', (request) => {
    if (textOf(request).includes('query UsageOfDays')) asked = request.postDataJSON().variables;
  });
  await enter(tab);
  const usage = tab.locator('section:has(> header #usage-title)');
  const top = tab.getByRole('region', { name: 'Top talkers' });
  const rowsOf = async (panel) => {
    const { text } = await downloaded(tab, () => panel.getByRole('button', { name: /as CSV$/ }).click());
    return text.trimEnd().split('\r\n').slice(1);
  };
  const settled = async (title) => {
    await tab.getByRole('heading', { level: 2, name: title, exact: true }).waitFor();
    await tab.waitForFunction(() => !document.querySelector('.waiting, .loading, [aria-busy="true"]'));
  };
  await settled('Usage this billing period');
  const totalOf = (line) => line.split(',').at(-1);
  const ids = (usage) => usage.topSubscribers.map(({ subscriber }) => subscriber.physicalId);

  await span(tab, 'Last period').click();
  await settled('Usage in the last billing period');
  await eventually(() => new URL(tab.url()).hash, '#/?span=last');
  assert.deepEqual((await rowsOf(usage)).map(totalOf), company.usage.previous.series.map(({ total }) => total));
  const talkers = await rowsOf(top);
  for (const [i, id] of ids(company.usage.previous).entries()) assert.ok(talkers[i].includes(id), talkers[i]);
  await eventually(() => usage.locator('.figures').textContent(), /on the period before|nothing to compare with/);

  for (const [name, n] of [['7 days', 7], ['30 days', 30]]) {
    await span(tab, name).click();
    await settled(`Usage in ${name}`);
    const days = (await rowsOf(usage)).map(totalOf);
    const read = await ofDays(asked, n, company.timeZone);
    // The day that runs goes on, and has no step before its first usage.
    assert.ok(days.length >= n - 1);
    assert.deepEqual(days.slice(0, n - 1), read.slice(0, n - 1));
    assert.ok((await rowsOf(top)).length > 0);
    await usage.locator('.plot .u-legend').getByText('Days before').waitFor();
  }
  await eventually(() => span(tab, '30 days').getAttribute('aria-current'), 'true');
  await tab.getByRole('region', { name: 'Top changes' }).getByRole('link', { name: 'Top risers' }).click();
  await tab.waitForURL(/#\/usage\?.*chart=RISERS/);
  await tab.getByRole('region', { name: 'Answer', exact: true }).locator('.bars, .empty').first().waitFor();
  await tab.goBack();
  await settled('Usage in 30 days');
  await tab.goBack();
  await settled('Usage in 7 days');
  await tab.reload();
  await settled('Usage in 7 days');
});

inTab('the overview shows who rose and fell most in the span that is chosen, and each number opens the usage that it counts', async (tab) => {
  let asked;
  tab.on('request', (request) => {
    if (textOf(request).includes('query TopChanges')) asked = request.postDataJSON().variables;
  });
  await enter(tab);
  await span(tab, '7 days').click();
  const panel = tab.getByRole('region', { name: 'Top changes' });
  const list = (name) => panel.getByRole('list', { name }).getByRole('listitem');
  await panel.getByText('against as many days before').waitFor();
  const { company } = await graph(`query($start: DateTime!, $end: DateTime!, $before: DateTime!, $align: UsageAlignment!) { company { usage(start: $start, end: $end) {
    risen: topChanges(first: 5, start: $before, align: $align) { change before total subscriber { physicalId nickname } }
    fallen: topChanges(first: 5, order: MOST_FALLEN, start: $before, align: $align) { change before total subscriber { physicalId nickname } }
  } } }`, { start: asked.start, end: asked.end, before: asked.before, align: asked.align });
  const { risen, fallen } = company.usage;
  assert.equal(risen.length + fallen.length, 10);
  for (const [name, expected] of [[/^Subscribers that rose most/, risen], [/^Subscribers that fell most/, fallen]]) {
    await eventually(() => list(name).count(), expected.length);
    for (const [i, { subscriber, change }] of expected.entries()) {
      await eventually(() => list(name).nth(i).locator('.bar-label').textContent(), subscriber.nickname || subscriber.physicalId);
      await eventually(() => list(name).nth(i).locator('.bar-value').textContent(), Number(change) > 0 ? /^\+/ : /^−/);
    }
  }
  const { text } = await downloaded(tab, () => panel.getByRole('button', { name: /as CSV$/ }).click());
  const row = text.split('\r\n').find((line) => line.includes(risen[0].subscriber.physicalId));
  assert.ok(row.includes(`${risen[0].total},${risen[0].before},${risen[0].change}`), row);

  await list(/^Subscribers that rose most/).first().locator('.bar-value').getByRole('link').click();
  await tab.waitForURL((url) => url.hash.startsWith('#/usage?') && url.hash.includes(`subscriber=${risen[0].subscriber.physicalId}`));
  await tab.getByRole('region', { name: 'Answer', exact: true }).locator('.plot, .empty').first().waitFor();
  await tab.goBack();
  await list(/^Subscribers that fell most/).first().locator('.bar-label').getByRole('link').click();
  await tab.waitForURL((url) => url.hash.startsWith(`#/subscribers/${fallen[0].subscriber.physicalId}`));
});

inTab('a large fleet is compared when that is asked for', async (tab) => {
  const asked = [];
  tab.on('request', (request) => asked.push(textOf(request)));
  await tab.route('**/graphql', async (route) => {
    if (!textOf(route.request()).includes('query Fleet ')) return route.fallback();
    const response = await route.fetch();
    const answer = await response.json();
    answer.data.company.fleet.total = 10_001;
    return route.fulfill({ response, json: answer });
  });
  await enter(tab);
  const panel = tab.getByRole('region', { name: 'Top changes' });
  await panel.getByText('Each day of 10,001 subscribers is read for this').waitFor();
  assert.equal(asked.some((text) => text.includes('query TopChanges')), false);
  await accessible(tab, 'the overview of a large fleet');
  await panel.getByRole('button', { name: 'Compare subscribers' }).click();
  await panel.getByRole('list', { name: /^Subscribers that rose most/ }).getByRole('listitem').first().waitFor();
});

for (const colorScheme of ['light', 'dark'])
  for (const width of [1440, 390])
    inTab(`each span of the overview is used without seeing or pointing, ${width} wide in ${colorScheme} colours`, async (tab) => {
      await enter(tab);
      for (const name of ['Last period', '7 days', '30 days']) {
        await span(tab, name).press('Enter');
        await span(tab, name).and(tab.locator('[aria-current="true"]')).waitFor();
        await tab.waitForFunction(() => !document.querySelector('.waiting, .loading, [aria-busy="true"]'));
        await accessible(tab, `the overview, ${name}`);
        await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth), width, name);
      }
    }, { colorScheme, viewport: { width, height: 844 } });
