// Dashboards: made, changed by keyboard and pointer, shared, printed, and shown on a wall and
// on a phone.
import assert from 'node:assert/strict';
import { base, enter, graph, openTab, textOf } from './browser.js';
import { askAs, companyIn, run } from './companies.js';
import { accessible, browserOf, eventually, pageTests } from './tab.js';

const inTab = pageTests();

const place = (id, params = {}) => `#/dashboards/${id}${Object.keys(params).length > 0 ? `?${new URLSearchParams(params)}` : ''}`;
const tile = (tab, name) => tab.locator('.tile-panel').filter({ has: tab.getByRole('heading', { level: 2, name, exact: true }) });
const keep = (input, ask = graph) => ask('mutation($input: CreateDashboardInput!) { createDashboard(input: $input) { dashboard { dashboardId version } } }', { input }).then(({ createDashboard }) => createDashboard.dashboard.dashboardId);
const read = async (dashboardId, ask = graph) => (await ask('query($id: String!) { dashboard(by: { dashboardId: $id }) { name isShared version refreshMinutes common { span groupId } tiles { tileId column row width height question { name } definition { chart } } } }', { id: dashboardId })).dashboard;
const placed = (column, row, width, height, definition) => ({ column, row, width, height, definition });
const ready = (tab) => tab.getByRole('region', { name: 'All dashboards' }).getByRole('link', { name: 'Overview', exact: true });
const answered = (tab, name) => tile(tab, name).locator('.figures strong').first().waitFor();

inTab('a dashboard is made, gets tiles, is moved by the keyboard, saved, shared, found, deleted and brought back', async (tab) => {
  const name = `Board ${Date.now()}`;
  await enter(tab, '#/dashboards');
  await tab.getByRole('button', { name: 'New dashboard' }).click();
  const making = tab.getByRole('dialog', { name: 'New dashboard' });
  await making.getByLabel('Name').fill(name);
  await making.getByRole('button', { name: 'Create' }).click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  const add = async (question) => {
    await tab.getByRole('button', { name: 'Add a tile' }).click();
    await tab.getByRole('dialog', { name: 'Add a tile' }).getByRole('button', { name: question, exact: true }).click();
  };
  await add('This billing period against the one before');
  await add('Which tariff is outgrown');
  await add('Partner by day, this month');
  await answered(tab, 'Partner by day, this month');
  await eventually(() => tab.locator('.tile-panel').count(), 3);
  // By the keyboard alone: the focus stays on the button.
  const wider = tile(tab, 'Partner by day, this month').getByRole('button', { name: 'Wider' });
  await wider.focus();
  for (let i = 0; i < 6; i++) await tab.keyboard.press('Enter');
  const up = tile(tab, 'Partner by day, this month').getByRole('button', { name: 'Up' });
  await up.focus();
  await tab.keyboard.press('Enter');
  await tab.keyboard.press('Enter');
  await accessible(tab, 'changing a dashboard');
  // A step back and again.
  await tab.getByRole('button', { name: 'Undo', exact: true }).click();
  await up.focus();
  await tab.keyboard.press('Enter');
  await tab.getByRole('group', { name: 'Of all tiles' }).getByLabel('Span').selectOption('LAST_MONTH');
  await tab.getByLabel('Share it with the company').check();
  await tab.getByRole('group', { name: 'The dashboard' }).getByLabel('Read again').selectOption('5');
  await tab.getByRole('button', { name: 'Save', exact: true }).click();
  await tab.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  const { dashboards } = (await graph('query($name: String!) { company { dashboards(filter: { name: { eq: $name } }) { nodes { dashboardId } } } }', { name })).company;
  const id = dashboards.nodes[0].dashboardId;
  const saved = await read(id);
  assert.deepEqual([saved.isShared, saved.refreshMinutes, saved.common], [true, 5, { span: 'LAST_MONTH', groupId: null }]);
  const top = saved.tiles.find(({ row }) => row === 0);
  assert.deepEqual([top.question?.name, top.width, top.column], ['Partner by day, this month', 12, 0]);
  await tab.getByText('Read again every 5 minutes').waitFor();

  // Each tile leads to its question under the common span.
  await tile(tab, 'Partner by day, this month').getByRole('heading').getByRole('link').click();
  await tab.waitForURL(/#\/usage\?.*span=LAST_MONTH/);
  // It is found by the search, deleted, and brought back.
  await tab.keyboard.press('ControlOrMeta+K');
  await tab.getByRole('combobox', { name: 'Search everything' }).fill(name);
  await tab.getByRole('option', { name: `${name} Dashboard` }).click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  await tab.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Dashboards' }).click();
  await tab.getByRole('button', { name: `Delete the dashboard ${name}` }).click();
  await tab.getByText(`The dashboard ${name} is deleted.`).waitFor();
  await eventually(() => tab.getByRole('link', { name, exact: true }).count(), 0);
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tab.getByRole('link', { name, exact: true }).waitFor();
  assert.equal((await read(id)).name, name);
});

inTab('a tile is dragged and pulled larger by the pointer, and an answer of the builder is added', async (tab) => {
  const name = `Dragged ${Date.now()}`;
  const total = { span: 'LAST_7_DAYS', chart: 'NUMBER' };
  const id = await keep({ name, tiles: [placed(0, 0, 4, 5, total), placed(4, 0, 4, 5, { ...total, measure: 'SESSIONS' })] });
  await enter(tab, '#/usage?span=LAST_7_DAYS&chart=BARS&interval=DAY&measure=TOTAL');
  await tab.getByRole('button', { name: 'Add to dashboard' }).click();
  const dialog = tab.getByRole('dialog', { name: 'Add to a dashboard' });
  await dialog.getByLabel('Dashboard').selectOption(id);
  await accessible(tab, 'adding to a dashboard');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  await answered(tab, 'Bytes by day, 7 days');
  assert.deepEqual((await read(id)).tiles.map(({ column, row, definition }) => [column, row, definition.chart]), [[0, 0, 'NUMBER'], [4, 0, 'NUMBER'], [0, 5, 'BARS']]);
  await tab.getByRole('button', { name: 'Edit', exact: true }).click();
  const head = await tile(tab, 'Bytes, 7 days').locator('header').boundingBox();
  await tab.mouse.move(head.x + head.width - 6, head.y + head.height - 4);
  await tab.mouse.down();
  await tab.mouse.move(head.x + head.width + 500, head.y + head.height + 4, { steps: 12 });
  await tab.mouse.up();
  const handle = tab.locator('.react-grid-item').filter({ has: tab.getByRole('heading', { name: 'Bytes by day, 7 days' }) }).locator('.react-resizable-handle');
  await tab.waitForTimeout(400); // tiles glide to their places
  await handle.evaluate((element) => element.scrollIntoView({ block: 'center' }));
  const corner = await handle.boundingBox();
  await tab.mouse.move(corner.x + 10, corner.y + 10);
  await tab.mouse.down();
  await tab.mouse.move(corner.x + 10, corner.y + 110, { steps: 8 });
  await tab.mouse.up();
  await tab.getByRole('button', { name: 'Save', exact: true }).click();
  await tab.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  const [first, , third] = (await read(id)).tiles;
  assert.ok(first.column >= 4, `the tile stands at ${first.column}`);
  assert.ok(third.height >= 9, `the tile has ${third.height} rows`);
});

inTab('an edit that somebody else was faster than is shown, and written over only when that is said', async (tab) => {
  const name = `Stale ${Date.now()}`;
  const id = await keep({ name, tiles: [placed(0, 0, 4, 5, { span: 'TODAY', chart: 'NUMBER' })] });
  const rename = (to) => graph('mutation($input: EditDashboardInput!) { editDashboard(input: $input) { dashboard { version } } }', { input: { dashboardId: id, name: to } });
  await enter(tab, place(id));
  await tab.getByRole('button', { name: 'Edit', exact: true }).click();
  await tab.getByRole('group', { name: 'The dashboard' }).getByLabel('Name').fill(`${name} of mine`);
  await rename(`${name} of another`);
  await tab.getByRole('button', { name: 'Save', exact: true }).click();
  await tab.getByRole('alert').getByText('Somebody else has saved the dashboard.', { exact: false }).waitFor();
  assert.equal((await read(id)).name, `${name} of another`);
  await tab.getByRole('button', { name: 'Keep mine' }).click();
  await tab.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  assert.equal((await read(id)).name, `${name} of mine`);
  await tab.getByRole('button', { name: 'Edit', exact: true }).click();
  await tab.getByRole('group', { name: 'The dashboard' }).getByLabel('Name').fill('lost');
  await tab.getByRole('button', { name: 'Cancel' }).click();
  await tab.getByRole('heading', { level: 1, name: `${name} of mine`, exact: true }).waitFor();
});

inTab('the overview is a dashboard that is copied before it is changed', async (tab) => {
  const name = `Copy ${Date.now()}`;
  await enter(tab, '#/dashboards');
  await ready(tab).click();
  await answered(tab, 'Bytes, this billing period, against the span before');
  await eventually(() => tab.getByRole('button', { name: 'Edit', exact: true }).count(), 0);
  await tab.getByRole('button', { name: 'Copy and change' }).click();
  const dialog = tab.getByRole('dialog', { name: 'Copy Overview' });
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByRole('button', { name: 'Copy' }).click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  await tab.getByRole('button', { name: 'Add a tile' }).waitFor();
  await eventually(() => tab.locator('.tile-panel').count(), 9);
});

inTab('a tile whose question was deleted says so, the others are answered, and it is taken off', async (tab) => {
  const { createQuestion: { question: { questionId } } } = await graph('mutation($input: CreateQuestionInput!) { createQuestion(input: $input) { question { questionId } } }', { input: { name: `Gone ${Date.now()}`, definition: { span: 'TODAY', chart: 'NUMBER' } } });
  const id = await keep({ name: `Holes ${Date.now()}`, tiles: [{ column: 0, row: 0, width: 4, height: 5, questionId }, placed(4, 0, 4, 5, { span: 'LAST_7_DAYS', chart: 'NUMBER' })] });
  await graph('mutation($input: DeleteQuestionInput!) { deleteQuestion(input: $input) { question { name } } }', { input: { questionId } });
  await enter(tab, place(id));
  await answered(tab, 'Bytes, 7 days');
  await tab.getByText('The question of this tile was deleted, or you do not see it.').waitFor();
  await accessible(tab, 'a tile without a question');
  await tab.getByRole('button', { name: 'Remove the tile' }).click();
  await tab.getByRole('button', { name: 'Save', exact: true }).click();
  await tab.getByRole('button', { name: 'Edit', exact: true }).waitFor();
  assert.equal((await read(id)).tiles.length, 1);
});

for (const timeZone of ['Europe/Berlin', 'America/St_Johns']) {
  inTab(`the link holds span and filter, and a user of groups sees their groups alone, in ${timeZone}`, async (tab) => {
    const name = `${timeZone.toLowerCase().replaceAll(/[^a-z]/g, '-')}-${Date.now() % 1_000_000}`;
    const token = companyIn(timeZone, name, '2026-11-09T00:00:00Z', 60);
    const two = run(['token', '--user', `two@${name}.example`]);
    const ask = (query, variables) => askAs(token, query, variables);
    const all = { span: 'THIS_WEEK', chart: 'NUMBER' };
    const id = await keep({ name: 'Everybody', isShared: true, tiles: [placed(0, 0, 4, 5, all), placed(4, 0, 4, 5, { ...all, groupId: 1 }), placed(8, 0, 4, 5, { ...all, measure: 'SESSIONS' })] }, ask);
    const own = await keep({ name: 'Mine' }, ask);
    const day = { span: 'DAYS', firstDay: '2026-11-10', lastDay: '2026-11-10' };
    // The day of the company's zone, in whole UTC hours.
    const [from, to] = timeZone === 'Europe/Berlin' ? ['2026-11-09T23:00:00Z', '2026-11-10T23:00:00Z'] : ['2026-11-10T04:00:00Z', '2026-11-11T04:00:00Z'];
    const totalOf = async (of) => Number((await askAs(of, 'query($from: DateTime!, $to: DateTime!) { company { usage(start: $from, end: $to) { totals { total } } } }', { from, to })).company.usage.totals.total);
    for (const [bearer, isWhole] of [[token, true], [two, false]]) {
      await tab.context().clearCookies();
      const answers = [];
      const note = async (response) => {
        if (textOf(response.request()).includes('query Usage(')) answers.push(...Object.values((await response.json()).data.of).map(({ totals }) => totals.total));
      };
      tab.on('response', note);
      await enter(tab, place(id, day), bearer);
      await tab.getByRole('heading', { level: 1, name: 'Everybody' }).waitFor();
      await answered(tab, 'Bytes, 2026-11-10');
      tab.off('response', note);
      assert.ok(answers.includes(String(await totalOf(bearer))), `${answers} has no ${await totalOf(bearer)}`);
      await eventually(() => tab.getByText('The question of this tile was deleted, or you do not see it.').count(), isWhole ? 0 : 1);
      await eventually(() => tab.getByRole('button', { name: 'Edit', exact: true }).count(), isWhole ? 1 : 0);
    }
    await tab.goto(`${base}/${place(own)}`);
    await tab.getByText('There is no such dashboard, or it is not shared with you.').waitFor();
    await tab.getByRole('link', { name: 'All dashboards' }).click();
    await tab.getByRole('link', { name: 'Everybody', exact: true }).waitFor();
    await eventually(() => tab.getByRole('link', { name: 'Mine', exact: true }).count(), 0);
    const lines = run(['export', '--company', name]).split('\n').filter((line) => line.includes('"type":"dashboard"')).map((line) => JSON.parse(line));
    assert.deepEqual(lines.map(({ name, tiles }) => [name, tiles.length]), [['Everybody', 3]]);
  }, { timezoneId: 'Asia/Tokyo' });
}

inTab('on a wall the dashboard stands alone, and is read again by itself', async (tab) => {
  await tab.clock.install();
  const id = await keep({ name: `Wall ${Date.now()}`, refreshMinutes: 1, tiles: [placed(0, 0, 4, 5, { span: 'LAST_7_DAYS', chart: 'NUMBER' })] });
  await enter(tab, place(id));
  await answered(tab, 'Bytes, 7 days');
  await tab.getByRole('button', { name: 'Full screen' }).click();
  await tab.waitForURL(/wall=1/);
  await eventually(() => tab.locator('.bar').isVisible(), false);
  await eventually(() => tab.evaluate(() => document.fullscreenElement !== null), true);
  const [again] = await Promise.all([tab.waitForRequest((request) => textOf(request).includes('query Usage(')), tab.clock.runFor(61_000)]);
  assert.ok(again);
  await tab.getByRole('button', { name: 'Leave full screen' }).click();
  await tab.waitForURL((url) => !url.hash.includes('wall'));
  await tab.locator('.bar').waitFor();
});

inTab('twelve tiles of nine questions are nine requests, and equal tiles one', async (tab) => {
  const days = { span: 'LAST_30_DAYS' };
  const asked = [
    { ...days, chart: 'NUMBER' }, { ...days, chart: 'NUMBER', measure: 'SESSIONS' }, { ...days, chart: 'BARS' }, { ...days, chart: 'STACKED', split: 'GROUP' }, { ...days, chart: 'LINE', split: 'OPERATOR' },
    { ...days, chart: 'TOP', split: 'SUBSCRIBER' }, { ...days, chart: 'TOP', split: 'TARIFF' }, { ...days, chart: 'TABLE', split: 'KIND' }, { ...days, chart: 'HEAT_MAP', interval: 'HOUR' },
  ];
  const id = await keep({ name: `Twelve ${Date.now()}`, tiles: [...asked, ...asked.slice(0, 3)].map((definition, i) => placed((i % 3) * 4, Math.floor(i / 3) * 6, 4, 6, definition)) });
  await enter(tab, '#/dashboards');
  await ready(tab).waitFor();
  let requests = 0;
  tab.on('request', (request) => { requests += textOf(request).includes('query Usage(') ? 1 : 0; });
  await tab.goto(`${base}/${place(id)}`);
  await tab.locator('.tile-panel .figures strong').nth(11).waitFor();
  assert.equal(requests, 9);
});

inTab('no violations of axe in both colours and on a phone, where the tiles stand below each other', async (tab) => {
  for (const options of [{}, { colorScheme: 'dark' }, { viewport: { width: 390, height: 844 } }]) {
    const other = await openTab(browserOf(tab), options);
    try {
      for (const address of ['#/dashboards', place('overview')]) {
        await enter(other.tab, address);
        await (address === '#/dashboards' ? ready(other.tab) : other.tab.locator('.tile-panel .figures strong').nth(8)).waitFor();
        await accessible(other.tab, `${JSON.stringify(options)} ${address}`);
        await eventually(() => other.tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${address} is wider than the window`);
      }
      if (options.viewport) {
        const lefts = await other.tab.locator('.tile-panel').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().left));
        assert.equal(new Set(lefts).size, 1);
      }
      assert.deepEqual(other.faults, []);
    } finally {
      await other.close();
    }
  }
});

inTab('on paper there are no controls but company, period, zone and time, on A4', async (tab) => {
  await enter(tab, place('overview'));
  await tab.locator('.tile-panel .figures strong').nth(8).waitFor();
  for (const address of [place('overview'), '#/usage?span=LAST_7_DAYS&chart=TABLE&split=OPERATOR&interval=DAY&measure=TOTAL']) {
    await tab.goto(`${base}/${address}`);
    await tab.locator('.figures strong').first().waitFor();
    await tab.emulateMedia({ media: 'print' });
    const { company } = await graph('{ company { name timeZone } }');
    const head = tab.locator('.printed');
    await eventually(() => head.isVisible(), true);
    const text = await head.textContent();
    for (const part of [company.name, company.timeZone, 'billing period', 'printed for']) assert.ok(text.includes(part), `${text} has no ${part}`);
    const shown = await tab.locator('button:visible, select:visible, input:visible, nav:visible, .bar:visible').count();
    assert.equal(shown, 0, `${address} prints ${shown} controls`);
    const pdf = (await tab.pdf({ preferCSSPageSize: true })).toString('latin1');
    // A4 in points.
    assert.match(pdf, /\/MediaBox \[0 0 59[45](\.\d+)? 84[12](\.\d+)?\]/);
    await tab.emulateMedia({ media: null });
  }
});
