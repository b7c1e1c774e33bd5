// What the page draws and writes: times in the company's zone, volumes in SI
// units, charts and tables.
import assert from 'node:assert/strict';
import { base, enter, graph, textOf } from './browser.js';
import { eventually, example, openExample, pageTests, runQuery, subscribers } from './tab.js';

const inTab = pageTests();

const { company: { timeZone } } = await graph('{ company { timeZone } }');
const inZone = (at, options = { day: 'numeric', month: 'short', year: 'numeric' }) => new Date(at).toLocaleString('en-GB', { timeZone, ...options });
const withClock = { day: 'numeric', month: 'short', year: 'numeric', hour: '2-digit', minute: '2-digit' };

/** The variables of the query that the editor sends next. */
async function sent(tab, click) {
  const [request] = await Promise.all([tab.waitForRequest((one) => one.url().endsWith('/graphql') && one.postData()?.includes('"from"')), click()]);
  return request.postDataJSON().variables;
}

/** Records usage of a subscriber now. */
async function use(physicalId, bytes) {
  const at = new Date().toISOString();
  const record = { source: 'e2e', recordId: `${physicalId}-${at}-${bytes}`, physicalId, startedAt: at, endedAt: at, mobileOriginated: String(bytes), mobileTerminated: '0', protocol: 'TCP' };
  await graph('mutation($input: RecordUsageInput!) { recordUsage(input: $input) { results { status } } }', { input: { records: [record] } });
}

// A browser far from the company: its own zone must not show.
const farAway = { timezoneId: 'America/Los_Angeles' };

inTab('the demo company is not in UTC, so that days of another zone show', () => {
  assert.notEqual(inZone('2026-01-15T23:30:00Z'), inZone('2026-01-15T12:00:00Z'));
});

inTab("the days of a chart are those of the company's zone, which stands beside it", async (tab) => {
  await enter(tab, '#/explore');
  await example(tab, /^Usage over time/);
  await tab.locator('.result .plot-notes').getByText(`By day, in ${timeZone}. The last day is not over yet.`).waitFor();
  const canvas = tab.locator('.result .u-over');
  const { width, height } = await canvas.boundingBox();
  await canvas.hover({ position: { x: width - 2, y: height / 2 } });
  await tab.locator('.result .u-legend').getByText(inZone(Date.now()), { exact: true }).waitFor();
  await tab.getByRole('button', { name: 'Table' }).click();
  await tab.locator('.result th').filter({ hasText: `start (${timeZone})` }).waitFor();
  const cells = await tab.locator('.result td.time').allTextContents();
  assert.equal(cells.length, 30);
  assert.equal(cells.at(-1), `${inZone(Date.now())}, 00:00`);
  assert.ok(cells.every((cell) => cell.endsWith(', 00:00')), cells.join(' '));
}, farAway);

inTab("time presets begin with whole days and months of the company's zone", async (tab) => {
  await enter(tab, '#/explore');
  await example(tab, /^Usage over time/);
  const week = await sent(tab, () => tab.getByRole('button', { name: '7 days', exact: true }).click());
  assert.match(inZone(week.from, withClock), /, 00:00$/);
  assert.ok(Date.now() - Date.parse(week.from) < 7.1 * 86_400_000 && Date.now() - Date.parse(week.from) > 5.9 * 86_400_000);
  const month = await sent(tab, () => tab.getByRole('button', { name: 'Last month', exact: true }).click());
  for (const at of [month.from, month.to]) assert.match(inZone(at, withClock), /^1 .*, 00:00$/);
  assert.match(inZone(Date.parse(month.to), { month: 'long' }), new RegExp(inZone(Date.now(), { month: 'long' })));
}, farAway);

inTab("the spans of a subscriber begin with the company's days and months, and so do the days of the overview", async (tab) => {
  const [{ physicalId }] = await subscribers(1);
  const spans = [];
  tab.on('request', (request) => {
    if (textOf(request).includes('UsageOfSubscriber')) spans.push(request.postDataJSON().variables);
  });
  await enter(tab, `#/subscribers/${physicalId}`);
  const usage = tab.getByRole('region', { name: 'Usage' });
  await usage.getByText(`By day, in ${timeZone}.`).waitFor();
  await usage.getByRole('button', { name: 'A year' }).click();
  await usage.getByText(`By month, in ${timeZone}.`).waitFor();
  const [days, months] = spans;
  assert.match(inZone(days.start, withClock), /, 00:00$/);
  assert.match(inZone(months.start, withClock), /^1 .*, 00:00$/);
  const today = () => Number(inZone(Date.now(), { day: 'numeric' }));
  const before = today();
  await tab.goto(`${base}/#/`);
  await tab.locator('#usage-title').waitFor();
  await tab.getByText(`By day, in ${timeZone}.`).waitFor();
  await tab.getByText(new RegExp(`· day (${before}|${today()}) of \\d+ · ${timeZone}`)).waitFor(); // a day may begin meanwhile
}, farAway);

inTab('a chart shows totals in its legend, and beside the pointer what a day holds and its share', async (tab) => {
  const [{ physicalId }] = await subscribers(1);
  await use(physicalId, 1_000_000); // a day that has begun just now may have none
  await enter(tab, `#/subscribers/${physicalId}`);
  const usage = tab.getByRole('region', { name: 'Usage' });
  const [, received, sent] = /([\d.,]+\s\w+) received, ([\d.,]+\s\w+) sent/.exec(await usage.getByText(/received, .* sent/).textContent());
  const legend = usage.locator('.u-legend');
  await legend.getByText(received, { exact: true }).waitFor();
  await legend.getByText(sent, { exact: true }).waitFor();
  const over = usage.locator('.plot .u-over');
  await over.scrollIntoViewIfNeeded();
  const { width, height } = await over.boundingBox();
  const tip = usage.locator('.plot-tip');
  await eventually(() => tip.isHidden(), true);
  for (const part of [0.01, 0.5, 0.99]) {
    await over.hover({ position: { x: width * part, y: height / 2 } });
    await tip.getByText('Total').waitFor();
    await eventually(() => tip.innerText(), /%/);
    const inside = await tip.evaluate((box) => box.getBoundingClientRect().left >= box.parentElement.getBoundingClientRect().left - 1 && box.getBoundingClientRect().right <= box.parentElement.getBoundingClientRect().right + 1);
    assert.ok(inside, `at ${part} of the width the values leave the plot`);
  }
  await tab.mouse.move(0, 0);
  await tip.waitFor({ state: 'hidden' });
});

inTab('usage of two subscribers that arrives live is listed, and drawn', async (tab) => {
  const [one, two] = await subscribers(2);
  await enter(tab, '#/explore');
  await tab.locator('.monaco-editor').first().waitFor();
  await tab.getByRole('button', { name: /^Usage as it is booked/ }).click();
  await tab.locator('.result').getByText('0 events · live').waitFor();
  for (let i = 1; i <= 3; i++) for (const { physicalId } of [one, two]) await use(physicalId, i * 1_000_000);
  await tab.locator('.result tbody tr').nth(5).waitFor();
  await tab.locator('.result th').filter({ hasText: `received (${timeZone})` }).waitFor();
  await tab.getByRole('button', { name: 'Chart', exact: true }).click();
  await tab.locator('.result .plot canvas').waitFor();
  for (const series of ['--series-1', '--series-2']) await tab.waitForFunction(isDrawn, series);
  await tab.locator('.graphiql-execute-button').click();
}, { expected: [/willReadFrequently/] });

/** Whether the plot has a line in the colour of a series. */
function isDrawn(series) {
  const [r, g, b] = getComputedStyle(document.documentElement).getPropertyValue(series).trim().match(/\w\w/g).map((hex) => Number.parseInt(hex, 16));
  const canvas = document.querySelector('.result .plot canvas');
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let found = 0;
  for (let i = 0; i < data.length; i += 4) if (Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 12) found++;
  return found > 60;
}

inTab('a log of events is a table first, and its legend takes three rows at most', async (tab) => {
  const fired = await fireAlerts(10);
  try {
    await enter(tab, '#/explore');
    await example(tab, /^Alert log/);
    await eventually(() => tab.locator('.result tbody tr').count().then((rows) => rows > 9), true);
    await eventually(() => tab.locator('.result .plot').count(), 0);
    await tab.getByRole('button', { name: 'Chart', exact: true }).click();
    const legend = tab.locator('.result .u-legend');
    await legend.waitFor();
    const row = await legend.locator('.u-series').first().evaluate((element) => element.getBoundingClientRect().height);
    const { height } = await legend.boundingBox();
    assert.ok(height <= 3.3 * row, `a legend of ${height} px with rows of ${row} px`);
    await eventually(() => tab.locator('.result .u-legend .u-series').count().then((shown) => shown <= 9), true);
    assert.ok((await tab.locator('.explore').boundingBox()).height <= 900);
  } finally {
    for (const alertId of fired) await deleteAlert(alertId);
  }
});

async function fireAlerts(n) {
  const made = [];
  for (const { subscriberId } of await subscribers(n)) {
    const { createAlert } = await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'SIM', target: subscriberId, lowerThreshold: '1000', upperThreshold: '900000000000000' } });
    made.push(createAlert.alert.alertId);
  }
  return made;
}

const deleteAlert = (alertId) => graph('mutation($id: Int!) { deleteAlert(input: {alertId: $id}) { alert { alertId } } }', { id: alertId });

inTab('volumes are in SI units; binary ones are a choice that is kept', async (tab) => {
  const [{ physicalId }] = await subscribers(1);
  await enter(tab, `#/subscribers/${physicalId}?tab=alerts`);
  await tab.getByRole('button', { name: 'Set an alert' }).click();
  await tab.getByLabel(/Lower threshold/).fill('500 MB');
  await tab.locator('.set-alert').getByText('500\u00a0MB', { exact: true }).waitFor();
  await tab.locator('.account-button').click();
  await tab.getByRole('button', { name: 'KiB, MiB, GiB' }).click();
  await tab.locator('.set-alert').getByText('477\u00a0MiB', { exact: true }).waitFor();
  await tab.reload();
  await tab.getByRole('tab', { name: 'Usage' }).click();
  await tab.getByText(/MiB received|GiB received|KiB received/).waitFor();
  await tab.locator('.account-button').click();
  await tab.getByRole('button', { name: 'kB, MB, GB' }).click();
  await tab.getByText(/[kMG]B received/).waitFor();
});

inTab('alerts close to firing are shares of thresholds that have not fired', async (tab) => {
  const [{ subscriberId }, second] = await subscribers(2);
  const { createAlert: { alert } } = await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'SIM', target: subscriberId, lowerThreshold: '1', upperThreshold: '2' } });
  const { createAlert: { alert: close } } = await graph('mutation($input: CreateAlertInput!) { createAlert(input: $input) { alert { alertId } } }', { input: { ruleType: 'SIM', target: second.subscriberId, lowerThreshold: '1', upperThreshold: '900000000000000' } });
  try {
    await enter(tab, '#/explore');
    await example(tab, /^Alerts close to firing/);
    await tab.locator('.result').getByText(/fired and (is|are) left out/).waitFor();
    const shares = await tab.locator('.result .bar-value').allTextContents();
    assert.ok(shares.length > 0);
    for (const share of shares) assert.match(share, /^\d{1,3}\u00a0%$/);
  } finally {
    await deleteAlert(alert.alertId);
    await deleteAlert(close.alertId);
  }
});

inTab('figures side by side have labels that can be told apart, in whole', async (tab) => {
  await enter(tab, '#/explore');
  await example(tab, /^This period against the last/);
  const labels = tab.locator('.result .bar-label');
  const texts = await labels.allTextContents();
  assert.deepEqual([...texts].sort(), ['Last period · Received (MT)', 'Last period · Sent (MO)', 'This period · Received (MT)', 'This period · Sent (MO)']);
  for (const label of await labels.all()) await eventually(() => label.evaluate((element) => element.scrollWidth <= element.clientWidth), true, await label.textContent());
});

inTab('an alert of which the past is looked at lists each time that it would have fired', async (tab) => {
  const [{ physicalId }] = await subscribers(1);
  await tab.route('**/graphql', (route) => {
    if (!textOf(route.request()).includes('PreviewAlert')) return route.fallback();
    const firings = Array.from({ length: 6 }, (_, i) => ({ boundary: i % 2 ? 'UPPER' : 'LOWER', at: `2026-0${i + 3}-14T23:30:00Z`, usage: '600000000' }));
    return route.fulfill({ json: { data: { previewAlert: { total: 6, firings } } } });
  });
  await enter(tab, `#/subscribers/${physicalId}?tab=alerts`);
  await tab.getByRole('button', { name: 'Set an alert' }).click();
  await tab.getByText('would have fired 6 times').waitFor();
  const times = await tab.locator('.foresight li').allTextContents();
  assert.equal(times.length, 6);
  assert.match(times[0], new RegExp(`^${inZone('2026-03-14T23:30:00Z')} · lower`));
});

inTab('identifiers stand on one line', async (tab) => {
  await enter(tab, '#/explore');
  await runQuery(tab, '{ subscribers(first: 20) { nodes { nickname physicalId subscriberId imsi operatorName tariffName connectionDate expiryDate group { name } tags { name } } } }');
  const cells = tab.locator('.result td.identifier');
  await cells.first().waitFor();
  const heights = await cells.evaluateAll((all) => all.map((cell) => {
    const range = document.createRange();
    range.selectNodeContents(cell);
    return range.getClientRects().length;
  }));
  assert.ok(heights.every((lines) => lines <= 1), heights.join(' '));
});

inTab('a plot that was zoomed into shows the way back', async (tab) => {
  await enter(tab, '#/explore');
  await openExample(tab, /^Usage over time/);
  const over = tab.locator('.result .u-over');
  await over.waitFor();
  await tab.getByText('Drag over the plot to zoom in.').waitFor();
  const { x, y, width, height } = await over.boundingBox();
  await tab.mouse.move(x + width * 0.3, y + height / 2);
  await tab.mouse.down();
  await tab.mouse.move(x + width * 0.6, y + height / 2, { steps: 5 });
  await tab.mouse.up();
  await tab.getByRole('button', { name: 'Show the whole range' }).click();
  await tab.getByText('Drag over the plot to zoom in.').waitFor();
});
