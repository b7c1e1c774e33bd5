// The programs of docs/clients.md run as they stand there: its files are
// written into a folder for each section, its commands are run in it, and what
// they print is compared with what the page shows.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { graph } from './browser.js';
import { accessKey, modules, root, shell } from './programs.js';

/** A command that installs a package of the project, with what it needs: its section has packages of its own. */
const ownPackage = /^npm install "\$SIMGRAPH_/m;

const sections = read(await readFile(join(root, 'docs/clients.md'), 'utf8'));

/** The sections of the page that have commands: their files, commands and outputs, in order. */
function read(text) {
  return text.split(/^## /m).slice(1).map((section) => {
    const blocks = [...section.matchAll(/^```(\w+)(?: (\S+))?\n(.*?)^```$/gms)].map(([, kind, name, body]) => ({ kind, name, body }));
    return { title: section.split('\n')[0], blocks };
  }).filter(({ blocks }) => blocks.length > 0);
}

let key;
const packed = await mkdtemp(join(tmpdir(), 'simgraph-packed-'));

before(async () => {
  key = { ...(await accessKey()), SIMGRAPH_TYPESCRIPT_CLIENT: join(packed, 'simgraph-client-0.0.0.tgz') };
  await shell(join(root, 'clients/typescript'), `npm ci --no-audit --no-fund --ignore-scripts --silent && npm run --silent build && npm pack --silent --pack-destination ${packed}`, key);
  reporting = report();
});

// Usage is booked all the time, for the programs that wait for an event.
let reporting;
let over = false;

async function report() {
  const { subscribers } = await graph('{ subscribers(first: 1) { nodes { physicalId } } }');
  const [{ physicalId }] = subscribers.nodes;
  while (!over) {
    const at = new Date().toISOString();
    const record = { source: 'clients', recordId: at, physicalId, startedAt: at, endedAt: at, mobileOriginated: '1500', mobileTerminated: '0', protocol: 'TCP' };
    await graph('mutation($input: RecordUsageInput!) { recordUsage(input: $input) { results { status } } }', { input: { records: [record] } });
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

after(async () => {
  over = true;
  await reporting;
  await rm(packed, { recursive: true, force: true });
});

const commands = { 'The graph in Go': 'go', 'REST in Go': 'go', 'REST in Python': 'python3' };

describe('the page "Clients"', { concurrency: 2 }, () => {
  for (const { title, blocks } of sections) {
    test(title, { timeout: 300_000 }, async (t) => {
      const command = commands[title];
      if (command && !(await runs(command))) return t.skip(`${command} is not installed`);
      const folder = await mkdtemp(join(tmpdir(), 'simgraph-client-'));
      t.after(() => rm(folder, { recursive: true, force: true }));
      await prepare(folder, blocks);
      for (const [i, { kind, body }] of blocks.entries()) {
        if (kind !== 'sh') continue;
        const printed = await shell(folder, withoutInstalls(body), key);
        // What caches of clients warn of is a fault of the configuration.
        assert.doesNotMatch(printed.stderr, /Graphcache|Invalid key|Cache data may be lost/);
        const expected = blocks[i + 1]?.kind === 'text' ? blocks[i + 1].body.trim() : null;
        // Tools may print lines of their own before.
        if (expected !== null) assert.equal(printed.stdout.trim().split('\n').slice(-expected.split('\n').length).join('\n'), expected, printed.stderr);
      }
    });
  }
});

test('the operations of the Go client', { timeout: 300_000 }, async (t) => {
  if (!(await runs('go'))) return t.skip('go is not installed');
  const { stdout } = await shell(join(root, 'clients/go'), 'go test -count=1 -v -run OnTheServer .', key);
  assert.match(stdout, /^--- PASS: TestOperationsOnTheServer/m);
});

test('the operations of the TypeScript client', { timeout: 300_000 }, async () => {
  const { stdout } = await shell(join(root, 'clients/typescript'), 'env -u NODE_TEST_CONTEXT node --test --test-reporter=tap server.test.js', key);
  assert.match(stdout, /^ok 1 - the operations on the server$/m);
});

const runs = (command) => new Promise((resolve) => execFile('sh', ['-c', `command -v ${command}`], (error) => resolve(!error)));

/** Writes the files of a section, beside the packages and the schema. */
async function prepare(folder, blocks) {
  if (!blocks.some(({ body }) => ownPackage.test(body))) await symlink(modules, join(folder, 'node_modules'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}\n');
  if (blocks.some(({ body }) => body.includes('schema.graphql'))) await shell(folder, 'simgraph schema > schema.graphql', key);
  for (const { name, body } of blocks) {
    if (!name) continue;
    await mkdir(dirname(join(folder, name)), { recursive: true });
    await writeFile(join(folder, name), body);
  }
}

/** The commands but those that install packages of npm, which must be those of the tests. */
function withoutInstalls(text) {
  if (ownPackage.test(text)) return text;
  return text.split('\n').filter((line) => {
    const [, names] = /^npm install (?:--save-dev )?(.*)$/.exec(line) ?? [];
    for (const name of names?.split(' ') ?? []) assert.ok(existsSync(join(modules, name)), `${name} is not among the packages of test/e2e/clients`);
    return names === undefined;
  }).join('\n');
}
