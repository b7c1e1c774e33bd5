// What tests of the page read, they wait for: a check of what stands there at once fails when the page is drawn late.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';

const reads = /\bassert\.\w+\(.*(\.(inputValue|textContent|innerText|isChecked|isVisible|isHidden|isDisabled|isEnabled|getAttribute|allTextContents|allInnerTexts|evaluateAll)\(|\bfocused\(|\btab\.(url|evaluate)\(|await [^;]*\)\.count\(\))/;

test('no test of the page checks at once what it reads', async () => {
  const found = [];
  for (const file of await readdir(import.meta.dirname)) {
    if (!/^page.*\.test\.js$/.test(file)) continue;
    for (const [i, line] of (await readFile(`${import.meta.dirname}/${file}`, 'utf8')).split('\n').entries()) {
      if (reads.test(line)) found.push(`${file}:${i + 1}: ${line.trim()}`);
    }
  }
  assert.deepEqual(found, [], 'use eventually of tab.js');
});
