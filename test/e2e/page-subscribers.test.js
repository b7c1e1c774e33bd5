// The list of subscribers as a tool: filters, columns, order, choosing, files.
import assert from 'node:assert/strict';
import { base, enter, graph, textOf } from './browser.js';
import { accessible, downloaded, eventually, failOperation, pageTests, pick, pickAlso, scrollToRow, setDate } from './tab.js';

const inTab = pageTests();
const counted = async (filter) => (await graph('query($filter: SubscriberFilter) { subscribers(first: 0, filter: $filter) { totalCount } }', { filter })).subscribers.totalCount;
const heading = (tab, n) => tab.getByRole('heading', { level: 2, name: `${n.toLocaleString('en')} subscriber${n === 1 ? '' : 's'}`, exact: true });
const rows = (tab) => tab.locator('table.rows tbody tr[aria-rowindex]');

/** The variables of the pages that the list reads from now on. */
function pagesRead(tab) {
  const pages = [];
  tab.on('request', (request) => textOf(request).includes('query SubscriberList') && pages.push(request.postDataJSON().variables));
  return pages;
}

/** Adds a filter as a person does. */
async function filter(tab, field, condition, value) {
  await tab.getByRole('button', { name: 'Add a filter' }).click();
  const form = tab.getByRole('dialog', { name: 'Add a filter' });
  await form.getByLabel('Field').selectOption({ label: field });
  await form.getByLabel('Condition').selectOption({ label: condition });
  if (value !== undefined) {
    const input = form.getByLabel('Value');
    if (/^\d{4}-\d\d-\d\d$/.test(value)) await setDate(form, 'Value', value);
    else if ((await input.evaluate((element) => element.tagName)) === 'SELECT') await input.selectOption({ label: value });
    else if (field === 'Group') await pick(form, 'Value', value);
    else {
      await input.fill(value);
      await tab.keyboard.press('Tab'); // the list of what fits is closed
    }
  }
  await form.getByRole('button', { name: 'Apply' }).click();
}

inTab('a window of 900 px shows twenty rows', async (tab) => {
  await enter(tab, '#/subscribers');
  await rows(tab).nth(20).waitFor();
  const seen = await rows(tab).evaluateAll((all) => all.filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length);
  assert.ok(seen >= 20, `${seen} rows`);
}, { viewport: { width: 1440, height: 900 } });

inTab('on a phone a row has two lines, and no column stands off-screen', async (tab) => {
  const [{ nickname, dataUsage }] = (await graph('{ subscribers(first: 1, orderBy: [{ field: DATA_USAGE, direction: DESC }]) { nodes { nickname dataUsage } } }')).subscribers.nodes;
  assert.ok(dataUsage > 0);
  await enter(tab, '#/subscribers?order=DATA_USAGE.DESC');
  const row = rows(tab).filter({ hasText: nickname }).first();
  await row.getByText('This period:').waitFor({ state: 'attached' });
  await eventually(() => row.innerText(), /(online|offline|transferring|inactive)\s+This period:\s+\d.*B/s);
  const table = tab.getByRole('region', { name: 'Table of subscribers' });
  await eventually(() => table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth), true);
  const { height } = await row.boundingBox();
  assert.ok(height >= 50 && height <= 60, `${height} px`);
  await scrollToRow(tab, table, 300);
  await accessible(tab, 'the subscribers on a phone');
}, { viewport: { width: 390, height: 844 } });

inTab('filters of every kind select what the graph selects, and stand in the address', async (tab) => {
  await enter(tab, '#/subscribers');
  await rows(tab).first().waitFor();
  const { groups } = await graph('{ groups(first: 1) { nodes { groupId name } } }');
  const cases = [
    ['Nickname', 'contains', 'van', { nickname: { like: 'van' } }],
    ['Usage this period', 'is above', '5 MB', { dataUsage: { gt: 5_000_000 } }],
    ['Group', 'is', groups.nodes[0].name, { groupId: { eq: groups.nodes[0].groupId } }],
    ['Online', 'yes', undefined, { networkState: { isOnline: { eq: true } } }],
    ['Contract ends', 'is on or after', '2027-06-01', { expiryDate: { ge: '2027-05-31T22:00:00Z' } }],
  ];
  const all = [];
  for (const [field, condition, value, part] of cases) {
    await filter(tab, field, condition, value);
    all.push(part);
    await heading(tab, await counted({ and: all })).waitFor();
  }
  await eventually(() => new URL(tab.url()).hash.match(/where=/g)?.length, cases.length);
  const address = tab.url();
  await tab.reload();
  await heading(tab, await counted({ and: all })).waitFor();
  await tab.getByRole('button', { name: 'Remove the filter Online: yes' }).click();
  await heading(tab, await counted({ and: all.filter((part) => !part.networkState) })).waitFor();
  await tab.goBack();
  await tab.waitForURL(address);
  await tab.getByRole('link', { name: 'Remove all' }).click();
  await heading(tab, await counted()).waitFor();
});

inTab('a value that does not fit is explained, and a filter is changed in place', async (tab) => {
  await enter(tab, '#/subscribers');
  await rows(tab).first().waitFor();
  await filter(tab, 'Usage this period', 'is above', 'much');
  const form = tab.getByRole('dialog', { name: 'Add a filter' });
  await form.getByText('Write a volume such as 500 MB or 1.5 GB.').waitFor();
  await form.getByLabel('Value').fill('1 GB');
  await tab.keyboard.press('Enter');
  await tab.getByRole('button', { name: 'Usage this period is above 1 GB', exact: true }).click();
  await tab.getByRole('dialog', { name: 'Change the filter' }).getByLabel('Value').fill('1 MB');
  await tab.keyboard.press('Enter');
  await heading(tab, await counted({ dataUsage: { gt: 1_000_000 } })).waitFor();
  await filter(tab, 'Nickname', 'is', 'nobody is called so');
  await tab.getByText('No subscriber fits.').waitFor();
  await tab.getByRole('link', { name: 'Show all subscribers' }).click();
  await heading(tab, await counted()).waitFor();
});

inTab('columns are chosen and ordered, rows follow the scroll bar, and the file has exactly this list', async (tab) => {
  const name = '=1+1, "quoted"';
  const { subscribers } = await graph('{ subscribers(first: 1, filter: { tags: { eq: "meter" } }, orderBy: [{ field: DATA_USAGE, direction: DESC }]) { totalCount nodes { physicalId nickname } } }');
  const [{ physicalId, nickname }] = subscribers.nodes;
  const rename = (nickname) => graph('mutation($input: EditSubscriberInput!) { editSubscriber(input: $input) { subscriber { nickname } } }', { input: { physicalId, nickname } });
  await rename(name);
  try {
    await enter(tab, '#/subscribers?tag=meter');
    await rows(tab).first().waitFor();
    await tab.getByRole('button', { name: 'Columns' }).click();
    const columns = tab.getByRole('dialog', { name: 'Columns' });
    for (const column of ['IMSI', 'Tags']) await columns.getByLabel(column, { exact: true }).check();
    // However soon one choice follows another, both count.
    await columns.locator('label').filter({ hasText: /^(Number|Group)$/ }).evaluateAll((labels) => labels.forEach((label) => label.click()));
    await tab.keyboard.press('Escape');
    await tab.getByRole('columnheader', { name: 'IMSI' }).waitFor();
    await eventually(() => tab.getByRole('columnheader', { name: 'Number' }).count(), 0);
    await tab.getByRole('link', { name: 'This period' }).click();
    await tab.locator('th[aria-sort="descending"]').getByText('This period').waitFor();
    await rows(tab).first().getByText(name).waitFor();
    await scrollToRow(tab, tab.getByRole('region', { name: 'Table of subscribers' }), subscribers.totalCount);
    await tab.getByText(`–${subscribers.totalCount.toLocaleString('en')} of ${subscribers.totalCount.toLocaleString('en')}`).waitFor();
    await eventually(() => rows(tab).count().then((shown) => shown < 60), true);
    const file = await downloaded(tab, () => tab.getByRole('button', { name: 'Download Subscribers as CSV' }).click());
    const lines = file.text.trimEnd().split('\r\n');
    assert.equal(lines[0], 'nickname,states,lastSeen,usage,physicalId,tags,operatorName,tariffName,imsi');
    assert.equal(lines.length, subscribers.totalCount + 1);
    assert.ok(lines[1].startsWith(`"'=1+1, ""quoted""",`), lines[1]);
    const usage = lines.slice(2).map((line) => Number(/,(\d+),\d+,/.exec(line)[1]));
    assert.deepEqual(usage, [...usage].sort((a, b) => b - a));
  } finally {
    await rename(nickname);
  }
});

inTab('a tag is put on the chosen rows, and taken off again by undo', async (tab) => {
  await enter(tab, '#/subscribers?columns=tags');
  await rows(tab).first().waitFor();
  const boxes = tab.locator('tbody input[type="checkbox"]');
  await boxes.nth(1).click();
  await boxes.nth(4).click({ modifiers: ['Shift'] });
  const bar = tab.getByRole('region', { name: 'Chosen subscribers' });
  await bar.getByText('4 chosen').waitFor();
  await bar.getByLabel('Tag').fill('chosen by e2e');
  await bar.getByLabel('Reason (optional)').fill('Ticket 4713: four of the fleet');
  await bar.getByRole('button', { name: 'Put on 4' }).click();
  await tab.getByText('The tag chosen by e2e is on 4 more.').waitFor();
  assert.equal(await counted({ tags: { eq: 'chosen by e2e' } }), 4);
  await eventually(() => bar.getByLabel('Reason (optional)').inputValue(), '');
  const { auditLog } = await graph('{ auditLog(first: 1, filter: {subjectType: {eq: "Tag"}, subjectId: {eq: "chosen by e2e"}}) { nodes { reason } } }');
  assert.equal(auditLog.nodes[0].reason, 'Ticket 4713: four of the fleet');
  await tab.locator('tbody').getByText('chosen by e2e').first().waitFor();
  const read = pagesRead(tab);
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tab.locator('tbody').getByText('chosen by e2e').first().waitFor({ state: 'detached' });
  assert.equal(read.length, 1);
  assert.equal(await counted({ tags: { eq: 'chosen by e2e' } }), 0);
  await tab.getByLabel('Select all rows shown').check();
  await bar.getByRole('button', { name: /^Choose all/ }).click();
  await bar.getByText(`${(await counted()).toLocaleString('en')} chosen`).waitFor();
  await eventually(() => bar.getByLabel('Tag').count(), 0);
});

inTab('all that match are changed by an operation after a dry run, and changed back', async (tab) => {
  const total = await counted({ subscriberType: { eq: 'PHYSICAL' } });
  await enter(tab, '#/subscribers?where=subscriberType.eq.physical');
  await rows(tab).first().waitFor();
  await tab.getByLabel('Select all rows shown').check();
  const bar = tab.getByRole('region', { name: 'Chosen subscribers' });
  await bar.getByRole('button', { name: /^Choose all/ }).click();
  await bar.getByRole('button', { name: 'Change …' }).click();
  const dialog = tab.getByRole('dialog');
  await dialog.locator('label').filter({ hasText: /^Change/ }).locator('select').selectOption({ label: 'Put a tag on' });
  await dialog.getByRole('combobox', { name: 'Tag', exact: true }).fill('bulk by e2e');
  await dialog.getByRole('button', { name: 'Show what would change' }).click();
  const all = total.toLocaleString('en');
  await dialog.getByText(`${all} would change`).waitFor({ timeout: 60_000 });
  assert.equal(await counted({ tags: { eq: 'bulk by e2e' } }), 0);
  await accessible(tab, 'a change of many');
  await dialog.getByRole('button', { name: `Change ${all}` }).click();
  await tab.getByText(`${all} changed`).waitFor({ timeout: 60_000 });
  assert.equal(await counted({ tags: { eq: 'bulk by e2e' } }), total);
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Undo' }).waitFor();
  await tab.locator('.heading .badge').getByText('done').waitFor({ timeout: 60_000 });
  assert.equal(await counted({ tags: { eq: 'bulk by e2e' } }), 0);
});

inTab('a change reads the first page and those in view again, and others when they come into view', async (tab) => {
  const name = 'put on by e2e';
  const badge = (row) => tab.locator(`tr[aria-rowindex="${row + 1}"]`).getByText(name);
  const list = tab.getByRole('region', { name: 'Table of subscribers' });
  await enter(tab, '#/subscribers?columns=tags&order=PHYSICAL_ID.ASC');
  await rows(tab).first().waitFor();
  for (const row of [150, 350]) {
    await scrollToRow(tab, list, row);
    await tab.locator(`tr[aria-rowindex="${row + 1}"] input`).check();
  }
  const bar = tab.getByRole('region', { name: 'Chosen subscribers' });
  await bar.getByLabel('Tag').fill(name);
  const read = pagesRead(tab);
  await bar.getByRole('button', { name: 'Put on 2' }).click();
  await badge(350).waitFor();
  assert.ok(read.length <= 3, `${read.length} pages`);
  await scrollToRow(tab, list, 150);
  await badge(150).waitFor();
  read.length = 0;
  // This makes the change before final, which has nothing more to do.
  await bar.getByRole('button', { name: 'Take off 2' }).click();
  await badge(150).waitFor({ state: 'detached' });
  assert.equal(new Set(read.map(({ after }) => after)).size, read.length, 'a page is read once');
  assert.equal(await counted({ tags: { eq: name } }), 0);
});

inTab('a row shows four tags and how many others there are, and the file has all', async (tab) => {
  const physicalId = (await graph('{ subscribers(first: 1, orderBy: [{ field: PHYSICAL_ID, direction: DESC }]) { nodes { physicalId } } }')).subscribers.nodes[0].physicalId;
  const names = Array.from({ length: 6 }, (_, i) => `e2e ${i}`);
  const each = async (mutation) => {
    for (const tagName of names) await graph(mutation, { input: { tagName, physicalIds: [physicalId] } });
  };
  await each('mutation($input: AttachTagInput!) { attachTag(input: $input) { attached } }');
  try {
    const { tags } = (await graph('query($id: String!) { subscriber(by: {physicalId: $id}) { tags(limit: 100) { name } } }', { id: physicalId })).subscriber;
    await enter(tab, `#/subscribers?columns=tags&where=physicalId.eq.${physicalId}`);
    await rows(tab).first().getByText(`+${tags.length - 4}`, { exact: true }).waitFor();
    await eventually(() => rows(tab).first().locator('.badge').count(), 4);
    const { text } = await downloaded(tab, () => tab.getByRole('button', { name: 'Download Subscribers as CSV' }).click());
    assert.ok(text.includes(`"${tags.map(({ name }) => name).join(', ')}"`), text);
  } finally {
    await each('mutation($input: DetachTagInput!) { detachTag(input: $input) { subscribers { physicalId } } }');
  }
});

inTab('an address with a wrong day or state is shown', async (tab) => {
  for (const day of ['2026-13-45', '2026-02-30', '9999-12-31']) {
    await enter(tab, `#/subscribers?where=connectionDate.on.${day}`);
    await tab.getByText('No subscriber fits.').waitFor();
  }
  await enter(tab, '#/subscribers?state=constructor');
  await heading(tab, await counted()).waitFor();
});

inTab('of more groups than a field reads at once, each is found by its name', async (tab) => {
  const groups = [];
  for (let i = 0; i < 110; i++) groups.push((await graph('mutation($name: String!) { createGroup(input: { name: $name }) { group { groupId name } } }', { name: `Depot ${String(i).padStart(3, '0')}` })).createGroup.group);
  const last = groups.at(-1);
  try {
    await enter(tab, '#/subscribers');
    await rows(tab).first().waitFor();
    await filter(tab, 'Group', 'is', last.name);
    await tab.getByRole('button', { name: `Group is ${last.name}`, exact: true }).click();
    const field = tab.getByRole('dialog', { name: 'Change the filter' }).getByRole('combobox', { name: 'Value' });
    await eventually(() => field.inputValue(), last.name);
    await enter(tab, '#/alerts/recipients');
    await tab.getByRole('button', { name: /^Choose alerts for/ }).first().click();
    const choice = tab.getByRole('dialog', { name: /^What/ });
    await choice.getByRole('checkbox', { name: 'Every alert' }).uncheck();
    await choice.getByRole('combobox', { name: 'Groups' }).focus();
    await choice.getByText('There are more. Type to find them.').waitFor();
    await choice.getByRole('combobox', { name: 'Groups' }).fill('nothing has this name');
    await choice.getByText('Nothing fits.').waitFor();
    let answer;
    const held = new Promise((resolve) => { answer = resolve; });
    await tab.route('**/graphql', async (route) => {
      if (route.request().postData()?.includes('"groupId":{"in"')) await held;
      await route.fallback();
    });
    await pickAlso(choice, 'Groups', last.name);
    // It has its name before that is read again.
    await choice.getByRole('list', { name: 'Groups that are chosen' }).getByText(last.name).waitFor();
    answer();
    await accessible(tab, 'a choice of many groups');
    await choice.getByRole('button', { name: `Remove ${last.name}` }).click();
    await choice.getByText('Choose every alert, or something below.').waitFor();
  } finally {
    for (const { groupId } of groups) await graph('mutation($id: Int!) { deleteGroup(input: { groupId: $id }) { group { groupId } } }', { id: groupId });
  }
});

inTab('a group that the page does not know stays chosen', async (tab) => {
  await enter(tab, '#/subscribers?group=987654');
  await tab.getByRole('button', { name: 'Group is 987654', exact: true }).click();
  const field = tab.getByRole('dialog', { name: 'Change the filter' }).getByRole('combobox', { name: 'Value' });
  await field.waitFor();
  await eventually(() => field.inputValue(), '987654');
});

inTab('a link opens a tab that is signed in', async (tab) => {
  await enter(tab, '#/subscribers');
  await rows(tab).first().waitFor();
  const link = rows(tab).first().getByRole('link').first();
  const name = await link.textContent();
  const [other] = await Promise.all([tab.context().waitForEvent('page'), link.click({ modifiers: ['Control'] })]);
  await other.getByRole('heading', { level: 1, name }).waitFor();
});

inTab('a list that cannot be read says so, and reads again', async (tab) => {
  await enter(tab);
  await tab.locator('.tile').first().waitFor();
  await failOperation(tab, 'SubscriberList');
  await tab.goto(`${base}/#/subscribers`);
  await tab.getByText('Busy right now').waitFor();
  await tab.unroute('**/graphql');
  await tab.getByRole('button', { name: 'Try again' }).click();
  await rows(tab).first().waitFor();
});

for (const colorScheme of ['light', 'dark'])
  inTab(`the list is used without seeing or pointing, in ${colorScheme} colours`, async (tab) => {
    await enter(tab, '#/subscribers?where=nickname.like.van');
    await rows(tab).first().waitFor();
    await accessible(tab, 'the list');
    await tab.getByRole('button', { name: 'Add a filter' }).focus();
    await tab.keyboard.press('Enter');
    await tab.getByRole('dialog', { name: 'Add a filter' }).waitFor();
    await accessible(tab, 'the filter');
    await tab.keyboard.press('Escape');
    await eventually(() => tab.evaluate(() => document.activeElement.textContent), 'Add a filter');
    await tab.getByRole('button', { name: 'Columns' }).press('Enter');
    await accessible(tab, 'the columns');
    await tab.keyboard.press('Escape');
    await tab.locator('tbody input[type="checkbox"]').first().press('Space');
    await accessible(tab, 'the chosen');
  }, { colorScheme });

inTab('the list fits on a phone', async (tab) => {
  await enter(tab, '#/subscribers?where=nickname.like.van&tag=fleet');
  await rows(tab).first().waitFor();
  await tab.locator('tbody input[type="checkbox"]').first().check();
  await eventually(() => tab.evaluate(() => document.documentElement.scrollWidth), 390);
  await tab.getByRole('button', { name: 'Subscribers', exact: true }).click();
  await tab.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Overview' }).click();
  await tab.locator('.tile').first().waitFor();
}, { viewport: { width: 390, height: 844 } });

inTab('a subscriber is barred from its page, and unbarred by undo', async (tab) => {
  const { subscribers } = await graph('{ subscribers(first: 1, filter: { isBarred: { eq: false }, isActive: { eq: true } }, orderBy: [{ field: PHYSICAL_ID, direction: ASC }]) { nodes { physicalId } } }');
  const [{ physicalId }] = subscribers.nodes;
  const isBarred = async () => (await graph('query($physicalId: String!) { subscriber(by: {physicalId: $physicalId}) { isBarred } }', { physicalId })).subscriber.isBarred;
  await enter(tab, `#/subscribers/${physicalId}`);
  await tab.getByRole('button', { name: 'Change …' }).click();
  const dialog = tab.getByRole('dialog');
  await dialog.locator('label').filter({ hasText: /^Change/ }).locator('select').selectOption({ label: 'Bar' });
  await dialog.getByRole('button', { name: 'Show what would change' }).click();
  await dialog.getByRole('button', { name: 'Change 1' }).click();
  await tab.getByText('1 changed').waitFor({ timeout: 60_000 });
  assert.equal(await isBarred(), true);
  await tab.getByRole('button', { name: 'Undo' }).click();
  await tab.getByRole('heading', { level: 1, name: 'Undo' }).waitFor();
  await tab.locator('.heading .badge').getByText('done').waitFor({ timeout: 60_000 });
  assert.equal(await isBarred(), false);
});
