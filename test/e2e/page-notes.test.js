// Notes that people pin to a moment of a chart, and find on others.
import assert from 'node:assert/strict';
import { enter, graph } from './browser.js';
import { accessible, oneSubscriber, pageTests, pick, setDate } from './tab.js';

const inTab = pageTests();
const notesOf = async (text) => (await graph('query($text: String!) { notes(filter: { text: { like: $text } }) { nodes { text startsAt endsAt groupId physicalId owner } } }', { text })).notes.nodes;
const chartOf = (tab, name) => tab.getByRole('region', { name, exact: true });

/** Opens the list of what is marked on the chart, and returns the entry of a note. */
async function marked(region, text) {
  const marks = region.locator('details.annotations');
  await marks.waitFor();
  if (!(await marks.evaluate((one) => one.open))) await marks.locator('summary').click();
  return marks.getByRole('listitem').filter({ hasText: text });
}

inTab('a note is pinned by the keyboard on the chart of a subscriber, seen on another, changed and deleted with a way back', async (tab) => {
  const { physicalId } = await oneSubscriber();
  const text = `firmware ${Date.now()}`;
  await enter(tab, `#/subscribers/${encodeURIComponent(physicalId)}`);
  const usage = chartOf(tab, 'Usage');
  await usage.locator('.plot canvas').waitFor();
  await usage.getByRole('button', { name: 'Pin a note' }).focus();
  await tab.keyboard.press('Enter');
  const form = tab.getByRole('dialog', { name: 'Pin a note' });
  await form.getByLabel('Note', { exact: true }).waitFor();
  await accessible(tab, 'pinning a note');
  await tab.keyboard.type(text);
  await tab.keyboard.press('Enter');
  await form.waitFor({ state: 'detached' });
  await (await marked(usage, text)).getByText('Note', { exact: false }).first().waitFor();
  await accessible(tab, 'the marks of a chart');
  const [{ startsAt, endsAt, ...whose }] = await notesOf(text);
  assert.deepEqual([whose.physicalId, whose.groupId, endsAt], [physicalId, null, null]);
  assert.ok(Date.now() - Date.parse(startsAt) < 31 * 86_400_000 && Date.parse(startsAt) <= Date.now());
  await tab.getByRole('tab', { name: 'History' }).click();
  await tab.getByRole('region', { name: 'Time line' }).getByText(text, { exact: true }).waitFor();

  // The question about the same subscriber has it, too, where it gets another text and an end.
  await enter(tab, `#/usage?${new URLSearchParams({ span: 'LAST_30_DAYS', interval: 'DAY', chart: 'LINE', subscriber: physicalId })}`);
  const answer = chartOf(tab, 'Answer');
  await (await marked(answer, text)).getByRole('button', { name: `Change the note ${text}` }).click();
  const change = tab.getByRole('dialog', { name: 'Change the note' });
  await change.getByLabel('Note', { exact: true }).fill(`${text} rolled back`);
  await setDate(change, 'Ends, where it lasts', new Date(Date.parse(startsAt) + 2 * 86_400_000).toISOString().slice(0, 16));
  await change.getByRole('button', { name: 'Save' }).click();
  await change.waitFor({ state: 'detached' });
  const entry = await marked(answer, `${text} rolled back`);
  await entry.waitFor();
  assert.ok((await notesOf(text))[0].endsAt !== null);

  await entry.getByRole('button', { name: `Delete the note ${text} rolled back` }).click();
  await tab.getByText('The note is deleted.').waitFor();
  await entry.waitFor({ state: 'detached' });
  await tab.getByRole('button', { name: 'Undo' }).click();
  const listed = chartOf(tab, 'Notes').getByRole('listitem').filter({ hasText: `${text} rolled back` });
  await listed.waitFor();
  await listed.getByRole('button', { name: `Delete the note ${text} rolled back` }).click();
  await listed.waitFor({ state: 'detached' });
  await enter(tab, '#/');
  for (let tries = 0; (await notesOf(text)).length > 0; tries++) assert.ok(tries < 100, 'the note is there still');
});

inTab('a note about a group is pinned with Shift and a click on the overview, and seen on the page of the group', async (tab) => {
  const { groups } = await graph('{ groups(first: 1, orderBy: [{ field: NAME }]) { nodes { groupId name } } }');
  const [{ groupId, name }] = groups.nodes;
  const text = `outage ${Date.now()}`;
  await enter(tab);
  const usage = chartOf(tab, 'Usage this billing period');
  const over = usage.locator('.plot .u-over');
  await over.scrollIntoViewIfNeeded();
  await over.click({ modifiers: ['Shift'], position: { x: 30, y: 40 } });
  const form = tab.getByRole('dialog', { name: 'Pin a note' });
  await form.getByLabel('Note', { exact: true }).fill(text);
  await pick(form, 'Group that it is about', name);
  await form.getByRole('button', { name: 'Pin', exact: true }).click();
  await form.waitFor({ state: 'detached' });
  await (await marked(usage, text)).waitFor();
  const [found] = await notesOf(text);
  assert.deepEqual([found.groupId, found.physicalId], [groupId, null]);
  await enter(tab, `#/groups/${groupId}`);
  await (await marked(chartOf(tab, 'Usage this billing period'), text)).waitFor();
});
