// The guides and recipes run as they stand, from an empty folder: every document whose name begins so.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFile, readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { agrees, read, run } from './guides.js';

const docs = new URL('../../docs/', import.meta.url);

for (const name of (await readdir(docs)).filter((name) => /^(start-.*|recipes.*)\.md$/.test(name))) {
  const text = await readFile(new URL(name, docs), 'utf8');
  const skip = !process.env.CI && /^.*radclient /m.test(text) && spawnSync('radclient', ['-v']).error !== undefined && 'radclient is not installed';
  test(name, { timeout: 300_000, skip }, () => run(text));
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
