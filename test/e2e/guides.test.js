// The guides and recipes run as they stand, from an empty folder: every document whose name begins so.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { agrees, read, run } from './guides.js';
import { launch } from './launch.js';

const docs = new URL('../../docs/', import.meta.url);

/** What a browser finds of the app that a guide builds. */
async function checkFrontEnd({ here, execute }) {
  const browser = await launch();
  try {
    const tab = await browser.newPage();
    await tab.goto(here('http://127.0.0.1:5173'));
    const rows = tab.getByRole('listitem');
    await rows.nth(19).waitFor();
    await tab.getByRole('button', { name: 'More' }).click();
    await rows.nth(39).waitFor();
    await rows.nth(2).getByRole('button').click();
    await rows.nth(2).getByText('inspect').waitFor();
    // A change beside the app, of the second subscriber by the order of the list.
    await execute(String.raw`
      call() { curl -fsS -H "Authorization: Bearer $VITE_TOKEN" -H 'Content-Type: application/json' http://127.0.0.1:8080/graphql -d "$1"; }
      second=$(call '{"query": "{ subscribers(first: 2, orderBy: [{field: PHYSICAL_ID}]) { nodes { physicalId } } }"}' | sed 's/.*"physicalId":"\([^"]*\)".*/\1/')
      call '{"query": "mutation { editSubscriber(input: {physicalId: \"'$second'\", nickname: \"Changed beside\"}) { subscriber { id } } }"}'`);
    await rows.nth(1).getByText('Changed beside').waitFor();
    // The tag is shown before an answer, and goes with the refusal.
    await tab.route('**/graphql', (route) => setTimeout(() => route.abort(), 1_000));
    await rows.nth(4).getByRole('button').click();
    await rows.nth(4).getByText('inspect').waitFor({ timeout: 900 });
    await rows.nth(4).getByText('inspect').waitFor({ state: 'hidden' });
    await tab.getByRole('alert').waitFor();
  } finally {
    await browser.close();
  }
}
const checks = { 'start-frontend.md': checkFrontEnd };

/** What documents use that need not be there, and how to ask for it. */
const tools = [{ used: /^.*radclient /m, named: 'radclient', ask: ['radclient', '-v'] }, { used: /^import pandas/m, named: 'pandas', ask: ['/usr/bin/python3', '-c', 'import pandas, psycopg2'] }];
const lacks = ({ ask: [program, ...args] }) => { const { error, status } = spawnSync(program, args); return error !== undefined || status !== 0; };

for (const name of (await readdir(docs)).filter((name) => /^(start-.*|recipes.*)\.md$/.test(name))) {
  const text = await readFile(new URL(name, docs), 'utf8');
  const missing = process.env.CI ? undefined : tools.find((tool) => tool.used.test(text) && lacks(tool));
  const skip = missing && `${missing.named} is not installed`;
  test(name, { timeout: 300_000, skip }, () => run(text, checks[name]));
}

test('a block that is not run is refused', () => {
  assert.equal(read('```sh\ntrue\n```\n\n```text\nshown\n```\n')[0].prints, 'shown');
  assert.equal(read('Save as `a.json`:\n\n```json\n{}\n```\n')[0].name, 'a.json');
  for (const text of ['```bash\ntrue\n```\n', '```\ntrue\n```\n', '```text\nshown\n```\n', '- one\n  ```sh\n  true\n  ```\n', '~~~sh\ntrue\n~~~\n', '```sh\ntrue\n']) {
    assert.throws(() => read(text), /a block/, text);
  }
});

test('what is shown is compared', () => {
  assert.ok(agrees('{"total":…}', '{"total":12}\n'));
  assert.ok(!agrees('{"total":…}', '{"totals":12}'));
});

test('a command that fails ends the document', { timeout: 30_000 }, async () => {
  await run('```sh\nvalue=kept\n```\n\n```sh\necho $value\n```\n\n```text\nkept\n```\n');
  await assert.rejects(run('```sh\nfalse\ntrue\n```\n'), /failed at line 1/);
  await assert.rejects(run('```sh\necho other\n```\n\n```text\nshown\n```\n'), /the document shows/);
  await assert.rejects(run(`\`\`\`sh\necho '{"errors":[]}'\n\`\`\`\n`), /an error at line 1/);
});
