// Tests of the page in tabs of one browser.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { graph, launch, openTab, textOf } from './browser.js';

/** Launches a browser for the tests of a file, and returns what declares one. */
export function pageTests() {
  let browser;
  before(async () => {
    browser = await launch();
  });
  after(() => browser.close());

  /** A test in a tab of its own, in which nothing may go wrong beside what is expected. */
  return function inTab(name, run, { expected = [], ...options } = {}) {
    test(name, { timeout: 600_000 }, async () => {
      const opened = await openTab(browser, options);
      try {
        await run(opened.tab, opened);
        assert.deepEqual(opened.faults.filter((fault) => !expected.some((known) => known.test(fault))), []);
      } catch (error) {
        if (process.env.SIMGRAPH_FAILED) await opened.tab.screenshot({ path: `${process.env.SIMGRAPH_FAILED}/${name.replaceAll(/\W+/g, '-')}.png` });
        throw error;
      } finally {
        await closed(opened);
      }
    });
  };
}

/** Closes the tab. A tab that is reloading, as when its session ends, may not close: then it closes with the browser. */
async function closed(opened) {
  let timer;
  await Promise.race([opened.close(), new Promise((resolve) => { timer = setTimeout(resolve, 10_000); })]);
  clearTimeout(timer);
}

export const browserOf = (tab) => tab.context().browser();

/** Picks from a field that lists what fits, as a person does who types. */
export async function pick(within, name, text) {
  await within.getByRole('combobox', { name, exact: true }).fill(text);
  await within.getByRole('option', { name: text }).first().click();
}

/** Writes a date such as 2030-01-31, or a moment such as 2030-01-31T09:00, part by part. */
export async function setDate(within, name, text) {
  const [day, time = ''] = text.split('T');
  const digits = `${day.split('-').reverse().join('')}${time.replace(':', '')}`;
  await within.getByRole('group', { name, exact: true }).getByRole('spinbutton').first().pressSequentially(digits);
}

/** Picks one more from a field that takes several; its list is closed then. */
export async function pickAlso(within, name, text) {
  await pick(within, name, text);
  await within.getByRole('combobox', { name, exact: true }).press('Escape');
}

/**
 * Reads until it is what is expected, for half a minute or the given milliseconds: the page is drawn after its address
 * changes, and after the answer of the server.
 */
export async function eventually(read, expected, message, within = 30_000) {
  for (const until = Date.now() + within; ; await delay(50)) {
    try {
      const actual = await read();
      if (expected instanceof RegExp) assert.match(actual, expected, message);
      else assert.deepEqual(actual, expected, message);
      return;
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || Date.now() > until) throw error;
    }
  }
}

/** The subscriber with the most usage. */
export const oneSubscriber = async () => (await subscribers(1))[0];

export const subscribers = async (first) =>
  (await graph('query($first: Int) { subscribers(first: $first, orderBy: [{ field: DATA_USAGE, direction: DESC }]) { nodes { physicalId subscriberId nickname } } }', { first })).subscribers.nodes;

/** Opens a ready question of the editor, and waits for its answer. */
export async function example(tab, name) {
  await openExample(tab, name);
  await tab.locator('.result .sheet, .result .failure').first().waitFor();
}

export async function openExample(tab, name) {
  await tab.locator('.monaco-editor textarea, .monaco-editor .native-edit-context').first().waitFor({ state: 'attached' });
  await tab.getByRole('button', { name }).click();
}

/** Writes a query into a new tab of the editor and runs it. */
export async function runQuery(tab, query) {
  await tab.locator('.graphiql-query-editor .view-lines').waitFor();
  await tab.getByRole('button', { name: 'New tab' }).click();
  await writeQuery(tab, query);
  await tab.locator('.graphiql-execute-button').click();
}

/**
 * Replaces what the editor holds. The editor may drop what is written while it
 * starts or changes tabs: it is written again until it stands there.
 */
async function writeQuery(tab, query) {
  const lines = tab.locator('.graphiql-query-editor .view-lines');
  const plain = (text) => text.replaceAll(/\s/g, '').slice(0, 40);
  for (let tries = 1; ; tries++) {
    await lines.click();
    await tab.keyboard.press('ControlOrMeta+A');
    await tab.keyboard.press('Delete'); // the editor adds brackets around a selection
    await tab.keyboard.insertText(query);
    const written = await lines.evaluate((element, text) => new Promise((resolve) => {
      const until = Date.now() + 2000;
      const look = () => {
        if (element.textContent.replaceAll(/\s/g, '').startsWith(text)) resolve(true);
        else if (Date.now() > until) resolve(false);
        else requestAnimationFrame(look);
      };
      look();
    }), plain(query));
    if (written) return;
    assert.ok(tries < 10, `the editor holds ${await lines.textContent()}`);
  }
}

export async function downloaded(tab, click) {
  const [download] = await Promise.all([tab.waitForEvent('download'), click()]);
  return { name: download.suggestedFilename(), text: await readFile(await download.path(), 'utf8') };
}

/** Answers an operation of the page, by its name, with an error instead of passing it to the server. */
export const failOperation = (tab, name) =>
  tab.route('**/graphql', (route) =>
    `${textOf(route.request())} ${route.request().postData()}`.includes(name)
      ? route.fulfill({ status: 200, contentType: 'application/json', body: JSON.stringify({ data: null, errors: [{ message: 'try again soon', extensions: { code: 'UNAVAILABLE' } }] }) })
      : route.fallback());

/** Scrolls a list on, which reads further rows, until a row stands in it. */
export async function scrollToRow(tab, list, row) {
  const height = await list.locator('tbody tr[aria-rowindex]').first().evaluate((element) => element.getBoundingClientRect().height);
  for (let i = 0; !(await tab.locator(`tr[aria-rowindex="${row + 1}"]`).count()); i++) {
    assert.ok(i < 200, `row ${row} does not come`);
    await list.evaluate((element, top) => element.scrollTo(0, top), row * height - 200);
    await tab.waitForTimeout(50);
  }
}

/** Counts the clicks of a job from here on, and returns what gives their number. The page must not be loaded anew. */
export async function countClicks(tab) {
  await tab.evaluate(() => {
    globalThis.clicks = 0;
    addEventListener('pointerdown', () => { globalThis.clicks++; }, true);
  });
  return () => tab.evaluate(() => globalThis.clicks);
}

/** What has the focus, in words. */
export const focused = (tab) => tab.evaluate(() => `${document.activeElement?.tagName.toLowerCase()} ${document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent}`.trim());

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs axe over the page; what belongs to the editor's makers is left out by name. */
export async function accessible(tab, place, without = []) {
  await tab.evaluate(axe);
  const { violations } = await tab.evaluate((exclude) => globalThis.axe.run({ exclude }, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice'] }), without);
  const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ target, failureSummary }) => `${target} ${failureSummary}`).join(' | ')}`);
  assert.deepEqual(found, [], place);
  await eventually(() => tab.evaluate(longDialogs), [], `${place}: a form of six fields or more is a sheet`);
}

/** The dialogs with long forms that are no sheets. Radio buttons of one name are one field, and so is a date; what is hidden from people is none. */
function longDialogs() {
  const fields = (dialog) => new Set([...dialog.querySelectorAll('input, select, textarea')].filter((field) => !field.closest('[aria-hidden=true]')).map((field) => (field.type === 'radio' ? field.name : (field.closest('.date') ?? field)))).size;
  return [...document.querySelectorAll('dialog[open]:not(.sheet)')].filter((dialog) => fields(dialog) >= 6).map((dialog) => dialog.querySelector('h2')?.textContent);
}
