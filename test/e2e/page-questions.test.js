// Questions about usage, as analysts ask them: without GraphQL, in few clicks, with the
// numbers of the graph, over a change of clocks in two zones.
import assert from 'node:assert/strict';
import { base, enter, graph, openTab, textOf } from './browser.js';
import { askAs, companyIn, run } from './companies.js';
import { accessible, browserOf, countClicks, downloaded, eventually, pageTests, pick } from './tab.js';

const inTab = pageTests();
const answer = (tab) => tab.getByRole('region', { name: 'Answer' });
const place = (definition) => `#/usage?${new URLSearchParams(definition)}`;

/** What the answer shows, as lines of its file. */
async function lines(tab) {
  const button = tab.getByRole('button', { name: 'Download the answer as CSV' });
  await tab.locator('button[aria-label="Download the answer as CSV"]:enabled').waitFor();
  const { text } = await downloaded(tab, () => button.click());
  return text.trim().split('\r\n').slice(1).map((line) => line.split(',').map((cell) => (/^-?\d+$/.test(cell) ? Number(cell) : cell)));
}

const sum = (numbers) => numbers.reduce((all, n) => all + n, 0);

/** The operation that the page sends for its answer, and the answer of the graph to it. */
async function sent(tab, act) {
  const [response] = await Promise.all([tab.waitForResponse((one) => textOf(one.request()).includes('query Usage(')), act()]);
  return { ...response.request().postDataJSON(), of: (await response.json()).data.of };
}

/** Begins a job at the overview, and counts its clicks. */
async function begin(tab) {
  await enter(tab);
  await tab.locator('.tile').first().waitFor();
  return countClicks(tab);
}

async function openReady(tab, name) {
  await tab.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Usage', exact: true }).click();
  await answer(tab).locator('.figures').waitFor();
  return sent(tab, () => tab.getByRole('link', { name, exact: true }).click());
}

inTab('usage by group by day of last month is asked, kept and shared in six clicks, and adds up to the total of the graph', async (tab) => {
  const clicks = await begin(tab);
  const { variables } = await openReady(tab, 'Usage by group by day, last month');
  await answer(tab).locator('.plot canvas').waitFor();
  await tab.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = tab.getByRole('dialog', { name: 'Keep the question' });
  const name = `Groups ${Date.now()}`;
  await dialog.getByLabel('Name').fill(name);
  await dialog.getByLabel('Folder').fill('Monthly');
  await accessible(tab, 'keeping a question');
  await dialog.getByLabel('Share it with the company').click();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  assert.ok((await clicks()) <= 6, `${await clicks()} clicks`);
  const file = await lines(tab);
  const { company } = await graph('query($start: DateTime!, $end: DateTime!) { company { timeZone usage(start: $start, end: $end) { totals { total } } } }', { start: variables.asked1Start, end: variables.asked1End });
  assert.equal(sum(file.flatMap(([, ...values]) => values)), Number(company.usage.totals.total));
  const at = (text) => new Date(text).toLocaleString('en-GB', { timeZone: company.timeZone, day: 'numeric', hour: 'numeric' });
  assert.deepEqual([at(variables.asked1Start), at(variables.asked1End)], ['1, 00', '1, 00']);

  // It is found by the search of the page, and deleted with a way back.
  await tab.keyboard.press('ControlOrMeta+K');
  await tab.getByRole('combobox', { name: 'Search everything' }).fill(name);
  await tab.getByRole('option', { name: `${name} Question in Monthly` }).click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  const kept = tab.getByRole('region', { name: 'Questions' });
  await kept.getByRole('button', { name: `Delete the question ${name}` }).click();
  await tab.getByText(`The question ${name} is deleted.`).waitFor();
  await eventually(() => kept.getByRole('link', { name, exact: true }).count(), 0);
  await tab.getByRole('button', { name: 'Undo' }).click();
  await kept.getByRole('link', { name, exact: true }).waitFor();
  const { auditLog } = await graph('{ auditLog(first: 1, filter: { action: { eq: "question.create" } }) { nodes { changes { field after } } } }');
  assert.ok(auditLog.nodes[0].changes.some(({ field, after }) => field === 'name' && after === name));
});

inTab('which tariff is outgrown is asked in two clicks, and each tariff leads to its subscribers', async (tab) => {
  const clicks = await begin(tab);
  const { of } = await openReady(tab, 'Which tariff is outgrown');
  await answer(tab).locator('.bars, .empty').first().waitFor();
  assert.equal(await clicks(), 2);
  const before = new Map(of.before1.breakdown.map(({ value, total }) => [value, Number(total)]));
  const risen = of.asked1.breakdown.map(({ value, total }) => Number(total) - (before.get(value) ?? 0)).sort((a, b) => b - a);
  const file = await lines(tab);
  assert.deepEqual(file.map((line) => line.at(-1)).slice(0, risen.length), risen);
  await answer(tab).getByText('The numbers as a table').click();
  const [tariff] = file.find(([value]) => value !== '');
  await answer(tab).getByRole('row').getByRole('link', { name: tariff, exact: true }).click();
  await tab.getByRole('button', { name: `Tariff is ${tariff}`, exact: true }).waitFor();
});

inTab('roaming by country of this quarter against the last is asked in two clicks, month by month', async (tab) => {
  const clicks = await begin(tab);
  const { variables, of } = await openReady(tab, 'Roaming by country, this quarter against the last');
  await answer(tab).locator('.figures').waitFor();
  assert.equal(await clicks(), 2);
  assert.deepEqual([variables.by, variables.breakdown], ['COUNTRY', true]);
  const spans = Object.keys(variables).filter((key) => key.endsWith('Start')).map((key) => [variables[key], variables[key.replace(/Start$/, 'End')]].map(Date.parse));
  assert.ok(spans.length >= 2);
  for (const [from, to] of spans) assert.ok(to > from && to - from <= (31 * 24 + 1) * 3_600_000);
  const asked = Object.keys(of).filter((alias) => alias.startsWith('asked'));
  const file = await lines(tab);
  assert.equal(sum(file.map(([, , total]) => total)), sum(asked.flatMap((alias) => of[alias].breakdown.map(({ total }) => Number(total)))));
});

inTab('nights versus days of the meters is asked in five clicks', async (tab) => {
  const { groups } = await graph('{ groups(first: 100) { nodes { groupId name } } }');
  const meters = groups.nodes.find(({ name }) => /meters/i.test(name));
  const clicks = await begin(tab);
  await openReady(tab, 'Nights versus days');
  await tab.getByRole('button', { name: 'all that you see' }).click();
  const form = tab.getByRole('dialog', { name: 'Choose whose usage it is' });
  await pick(form, 'Which', meters.name);
  const { of } = await sent(tab, () => form.getByRole('button', { name: 'Apply' }).click());
  await answer(tab).locator('table.heat').waitFor();
  assert.ok((await clicks()) + 1 <= 6); // choosing in a list is a click, too
  await tab.getByRole('button', { name: `Group is ${meters.name}`, exact: true }).waitFor();
  const file = await lines(tab);
  assert.equal(file.length, 7 * 24);
  assert.equal(sum(file.map(([, , total]) => total)), Number(of.asked1.totals.total));
});

inTab('top risers of the week are asked in two clicks, and lead to their pages', async (tab) => {
  const clicks = await begin(tab);
  const { of } = await openReady(tab, 'Top risers of the week');
  await answer(tab).locator('.bars, .empty').first().waitFor();
  assert.equal(await clicks(), 2);
  assert.equal(of.asked1.topSubscribers.length > 0, true);
  const [[physicalId, name]] = await lines(tab);
  await answer(tab).getByText('The numbers as a table').click();
  await answer(tab).getByRole('row').getByRole('link', { name, exact: true }).first().click();
  await tab.waitForURL(`${base}/#/subscribers/${physicalId}`);
});

inTab('the address is the question: it is read again, Back leads to the one before, and the editor has its operation', async (tab) => {
  await enter(tab, place({ span: 'LAST_7_DAYS', split: 'OPERATOR', chart: 'STACKED', interval: 'DAY', measure: 'TOTAL' }));
  await answer(tab).locator('.plot canvas').waitFor();
  const total = await answer(tab).locator('.figures strong').textContent();
  await tab.getByLabel('Compare with').selectOption('BEFORE');
  await tab.waitForURL(/compare=BEFORE/);
  await answer(tab).getByText('in the span before').waitFor();
  await tab.goBack();
  await tab.waitForURL((url) => !url.hash.includes('compare'));
  await answer(tab).getByText('in the span before').waitFor({ state: 'detached' });
  await tab.reload();
  await answer(tab).locator('.plot canvas').waitFor();
  await eventually(() => answer(tab).locator('.figures strong').textContent(), total);
  await eventually(() => tab.getByLabel('Split by').inputValue(), 'OPERATOR');
  // A bar leads to the same question about its day, as its row in the table does.
  const bars = await answer(tab).locator('.u-over').boundingBox();
  await answer(tab).locator('.u-over').click({ position: { x: bars.width / 2, y: bars.height / 2 } });
  await tab.waitForURL(/span=DAYS/);
  await tab.goBack();
  await tab.waitForURL(/span=LAST_7_DAYS/);
  await answer(tab).getByText('The numbers as a table').click();
  await answer(tab).locator('tbody th a').first().click();
  await tab.waitForURL(/span=DAYS/);
  await eventually(() => tab.getByRole('combobox', { name: 'By', exact: true }).inputValue(), 'HOUR');
  await tab.getByRole('button', { name: 'Open in the editor' }).click();
  await tab.locator('.graphiql-query-editor .view-lines').getByText('seriesBy').first().waitFor();
});

inTab('a kept question is opened, changed and saved, and what another has changed meanwhile is shown first', async (tab) => {
  const name = `Kept ${Date.now()}`;
  const { createQuestion: { question: { questionId } } } = await graph('mutation($input: CreateQuestionInput!) { createQuestion(input: $input) { question { questionId } } }', { input: { name, definition: { span: 'LAST_WEEK', chart: 'BARS' } } });
  const read = async () => (await graph('query($id: String!) { question(by: { questionId: $id }) { name isShared definition { chart split span compare } } }', { id: questionId })).question;
  await enter(tab, '#/usage');
  await tab.getByRole('region', { name: 'Questions' }).getByRole('link', { name, exact: true }).click();
  await tab.getByRole('heading', { level: 1, name }).waitFor();
  await tab.getByLabel('Split by').selectOption('TARIFF');
  await tab.getByText('changed, not saved').waitFor();
  await tab.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = tab.getByRole('dialog', { name: 'Save the question' });
  await graph('mutation($input: EditQuestionInput!) { editQuestion(input: $input) { question { name } } }', { input: { questionId, name: `${name} of another` } });
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.getByRole('alert').getByText(`Somebody else has changed “name” from ${name} to ${name} of another.`, { exact: false }).waitFor();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await tab.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  await tab.getByText('changed, not saved').waitFor({ state: 'detached' });
  assert.deepEqual(await read(), { name, isShared: false, definition: { chart: 'STACKED', split: 'TARIFF', span: 'LAST_WEEK', compare: null } });
  await tab.getByRole('link', { name: 'History' }).click();
  await tab.getByText('question.edit').first().waitFor();
  await graph('mutation($input: DeleteQuestionInput!) { deleteQuestion(input: $input) { question { name } } }', { input: { questionId } });
});

inTab('what cannot be asked, what is not there, and an error are said', async (tab) => {
  await enter(tab, place({ span: 'LAST_YEAR', interval: 'HOUR', chart: 'LINE' }));
  await answer(tab).getByText('Hours are shown of at most 100 days.').waitFor();
  await tab.goto(`${base}/${place({ span: 'DAYS', chart: 'LINE' })}`);
  await answer(tab).getByText('Choose the first and the last day.').waitFor();
  await tab.goto(`${base}/${place({ span: 'TODAY', chart: 'NUMBER', group: '999999' })}`);
  await answer(tab).getByText('There is no such group, or you do not see it.').waitFor();
  await tab.goto(`${base}/${place({ span: 'DAYS', firstDay: '1999-01-01', lastDay: '1999-01-02', chart: 'LINE' })}`);
  await answer(tab).getByText('No usage was recorded in this span').waitFor();
  await tab.goto(`${base}/#/usage?question=none`);
  await tab.getByText('There is no such question, or it is not shared with you.').waitFor();
  await tab.route('**/graphql', (route) => (textOf(route.request()).includes('query Usage(')
    ? route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify({ data: null, errors: [{ message: 'try again soon', extensions: { code: 'UNAVAILABLE' } }] }) }) : route.fallback()));
  await tab.goto(`${base}/${place({ span: 'YESTERDAY', chart: 'NUMBER' })}`);
  await answer(tab).getByRole('alert').getByText('try again soon').waitFor();
  await tab.unroute('**/graphql');
  await answer(tab).getByRole('button', { name: 'Try again' }).click();
  await answer(tab).locator('.figures').waitFor();
});

inTab('each chart has no violations of axe, in both colours and on a phone, where the answer comes first', async (tab) => {
  const charts = [
    { span: 'THIS_PERIOD', compare: 'BEFORE', chart: 'BARS', interval: 'DAY' }, { span: 'LAST_30_DAYS', split: 'GROUP', chart: 'STACKED', interval: 'DAY' }, { span: 'LAST_7_DAYS', chart: 'HEAT_MAP', interval: 'HOUR' },
    { span: 'THIS_WEEK', split: 'SUBSCRIBER', compare: 'BEFORE', chart: 'RISERS' }, { span: 'LAST_7_DAYS', split: 'OPERATOR', chart: 'TABLE', interval: 'DAY' },
  ];
  for (const options of [{}, { colorScheme: 'dark' }, { viewport: { width: 390, height: 844 } }]) {
    const other = await openTab(browserOf(tab), options);
    try {
      for (const chart of charts) {
        await enter(other.tab, place(chart));
        await answer(other.tab).locator('.figures').waitFor();
        for (const summary of await other.tab.getByText('The numbers as a table').all()) await summary.click();
        await accessible(other.tab, `${JSON.stringify(options)} ${chart.chart}`);
        await eventually(() => other.tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, `${chart.chart} is wider than the window`);
        if (options.viewport) {
          await eventually(() => other.tab.getByLabel('Split by').isVisible(), false);
          assert.ok((await answer(other.tab).locator('.figures strong').boundingBox()).y < 500);
        }
      }
      assert.deepEqual(other.faults, []);
    } finally {
      await other.close();
    }
  }
});

inTab('a source that brings nothing since is marked, and usage outside of groups leads to its subscribers', async (tab) => {
  const name = `outage-${Date.now() % 1_000_000}`;
  const token = companyIn('Europe/Berlin', name, new Date(Date.now() - 5 * 3_600_000).toISOString(), 3);
  const [lost] = run(['export', '--company', name]).split('\n').filter((line) => line.includes('"type":"subscriber"')).map((line) => JSON.parse(line));
  const startedAt = new Date(Date.now() - 4 * 3_600_000).toISOString();
  run(['import', '-'], [
    { ...lost, physicalId: `${name}-3`, subscriberId: `44700001${name.length}3`, nickname: 'alone', groupId: null },
    { type: 'usage', company: name, source: 'e2e', recordId: 'alone', physicalId: `${name}-3`, sessionId: '', sequence: 0, startedAt, endedAt: startedAt, mobileOriginated: 5000, mobileTerminated: 0, protocol: 'TCP', ipAddress: '10.0.0.1' },
  ].map((line) => `${JSON.stringify(line)}\n`).join(''));
  await tab.context().clearCookies();
  await enter(tab, place({ span: 'LAST_7_DAYS', interval: 'DAY', split: 'GROUP', chart: 'STACKED' }), token);
  await answer(tab).locator('.plot canvas').waitFor();
  await answer(tab).getByText('1 mark: alerts, operations, silences, sources and notes').click();
  await answer(tab).getByRole('listitem').filter({ hasText: 'e2e brings no usage since' }).getByRole('link', { name: 'Source' }).waitFor();
  const sums = answer(tab).getByRole('list', { name: 'Sums' }).getByRole('listitem');
  await sums.filter({ hasText: '5 kB' }).getByRole('link').click();
  await tab.getByRole('button', { name: 'Group is not set', exact: true }).waitFor();
  await tab.getByText('alone', { exact: true }).first().waitFor();
});

// The day on which the clocks are set back, in UTC hours from some before to some after it.
for (const { timeZone, name, day, from } of [
  { timeZone: 'Europe/Berlin', name: 'berlin', day: '2026-10-25', from: '2026-10-23T22:00:00Z' },
  { timeZone: 'America/St_Johns', name: 'st-johns', day: '2026-11-01', from: '2026-10-31T02:00:00Z' },
]) {
  inTab(`a day of 25 hours in ${timeZone} adds up: its hours are its day, its day is the graph's, and no hour counts twice`, async (tab) => {
    const token = companyIn(timeZone, `${name}-${Date.now() % 1_000_000}`, from, 80);
    await tab.context().clearCookies();
    await enter(tab, place({ span: 'DAYS', firstDay: day, lastDay: day, interval: 'HOUR', chart: 'LINE' }), token);
    await answer(tab).locator('.plot canvas').waitFor();
    await answer(tab).getByText('The numbers as a table').click();
    const ofHours = await lines(tab);
    assert.equal(ofHours.length, 25);
    assert.equal(new Set(ofHours.map(([start]) => start)).size, 25);
    const total = sum(ofHours.map(([, value]) => value));
    const next = new Date(Date.parse(`${day}T12:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
    const before = new Date(Date.parse(`${day}T12:00:00Z`) - 86_400_000).toISOString().slice(0, 10);
    const { variables } = await sent(tab, () => tab.goto(`${base}/${place({ span: 'DAYS', firstDay: before, lastDay: next, interval: 'DAY', chart: 'TABLE', split: 'GROUP' })}`));
    const days = await lines(tab);
    assert.equal(days.length, 3);
    assert.equal(sum(days[1].slice(1)), total);
    const { company: { usage } } = await askAs(token, 'query($start: DateTime!, $end: DateTime!) { company { usage(start: $start, end: $end) { totals { total } series(interval: DAY) { start total } } } }', { start: variables.asked1Start, end: variables.asked1End });
    // The graph begins a day with the half hour that the span has of it.
    assert.deepEqual(days.map(([start, ...values]) => [Date.parse(start), sum(values)]), usage.series.filter(({ total }) => total !== '0').map(({ start, total }) => [Date.parse(start), Number(total)]));
    assert.equal(sum(days.flatMap(([, ...values]) => values)), Number(usage.totals.total));
    // Two hours of the clock are in one field of the heat map.
    await sent(tab, () => tab.goto(`${base}/${place({ span: 'DAYS', firstDay: day, lastDay: day, interval: 'HOUR', chart: 'HEAT_MAP' })}`));
    await answer(tab).locator('table.heat').waitFor();
    const week = await lines(tab);
    assert.equal(sum(week.map(([, , value]) => value)), total);
    assert.equal(week.filter(([, , value]) => value > 1_900).length, 1);
    assert.deepEqual([...new Set(week.filter(([, , value]) => value > 0).map(([weekday]) => weekday))], [7]);
    await sent(tab, () => tab.goto(`${base}/${place({ span: 'DAYS', firstDay: before, lastDay: next, interval: 'WEEK', chart: 'TABLE' })}`));
    const weeks = await lines(tab);
    assert.equal(weeks.length, 2);
    assert.equal(sum(weeks.map(([, value]) => value)), Number(usage.totals.total));
  }, { timezoneId: 'Asia/Tokyo' });
}

inTab('a shared question answers a user of groups about these groups alone, a private one and one about another group are not there', async (tab) => {
  const name = `shared-${Date.now() % 1_000_000}`;
  const token = companyIn('UTC', name, '2026-11-10T00:00:00Z', 24);
  const two = run(['token', '--user', `two@${name}.example`]);
  const definition = { span: 'DAYS', firstDay: '2026-11-10', lastDay: '2026-11-10', chart: 'NUMBER' };
  const keep = async (input) => (await askAs(token, 'mutation($input: CreateQuestionInput!) { createQuestion(input: $input) { question { questionId } } }', { input })).createQuestion.question.questionId;
  const shared = await keep({ name: 'Everything', isShared: true, definition });
  const hidden = await keep({ name: 'Of the others', isShared: true, definition: { ...definition, groupId: 1 } });
  const own = await keep({ name: 'Mine', definition });
  const totalOf = async (of) => Number((await askAs(of, '{ company { usage(start: "2026-11-10T00:00:00Z", end: "2026-11-11T00:00:00Z") { totals { total } } } }')).company.usage.totals.total);
  const [all, part] = [await totalOf(token), await totalOf(two)];
  assert.ok(part > 0 && part < all);
  await enter(tab, `#/usage?question=${shared}`, two);
  await tab.getByRole('heading', { level: 1, name: 'Everything' }).waitFor();
  assert.deepEqual(await lines(tab), [[part]]);
  await eventually(() => tab.getByRole('button', { name: 'Save', exact: true }).count(), 0);
  const kept = tab.getByRole('region', { name: 'Questions' });
  await eventually(() => kept.getByRole('link', { name: 'Everything' }).count(), 1);
  for (const gone of ['Of the others', 'Mine']) await eventually(() => kept.getByRole('link', { name: gone }).count(), 0);
  for (const id of [hidden, own]) {
    await tab.goto(`${base}/#/usage?question=${id}`);
    await tab.getByText('There is no such question, or it is not shared with you.').waitFor();
  }
  await assert.rejects(askAs(two, 'mutation($input: DeleteQuestionInput!) { deleteQuestion(input: $input) { question { name } } }', { input: { questionId: shared } }));

  // Both move with a bundle: the shared ones, and not the private one.
  const bundle = run(['export', '--company', name]).split('\n').filter((line) => line.includes('"type":"question"')).map((line) => JSON.parse(line).name);
  assert.deepEqual(bundle.sort(), ['Everything', 'Of the others']);
});
