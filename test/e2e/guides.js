// Documents that are run: each block of commands, in one shell and an empty folder.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The longest that a block may take, in ms. */
const longest = 120_000;

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/** The steps of a document. A block that would be neither run, compared nor saved is an error. */
export function read(text) {
  const steps = [];
  const fence = /^```(\S*)[^\n]*\n(.*?)^```$/gms;
  let end = 0;
  for (const match of text.matchAll(fence)) {
    const [whole, kind, body] = match;
    const before = text.slice(end, match.index);
    end = match.index + whole.length;
    const line = text.slice(0, match.index).split('\n').length;
    const name = /Save as `([^`]+)`[^`]*$/.exec(before)?.[1];
    const last = steps.at(-1);
    if (name) steps.push({ name, body, line });
    else if (kind === 'sh') steps.push({ commands: body, line });
    else if ((kind === 'text' || kind === 'json') && last?.commands && last.prints === undefined) last.prints = body.trim();
    else throw new Error(`line ${line}: a block of ${kind || 'no kind'} that nothing runs, compares or saves`);
  }
  const left = text.replace(fence, '');
  const open = /^.*(?:```|~~~).*$/m.exec(left);
  if (open) throw new Error(`a block that is not at the start of a line: ${open[0]}`);
  return steps;
}

/** Whether a text is the one that a document shows, in which … stands for what differs each time. */
export function agrees(shown, printed) {
  const parts = shown.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*?')}$`, 's').test(printed.trim());
}

/** Runs the steps of a document, and then a check of what they left. Each address of this machine that it names becomes a free one, which `here` puts in. */
export async function run(text, check = async () => {}) {
  const folder = await mkdtemp(join(tmpdir(), 'simgraph-guide-'));
  const blocks = await mkdtemp(join(tmpdir(), 'simgraph-blocks-'));
  await chmod(folder, 0o755);
  const addresses = new Map();
  for (const [address] of `127.0.0.1:8080 ${text}`.matchAll(/127\.0\.0\.1:\d+/g)) if (!addresses.has(address)) addresses.set(address, await freeAddress());
  const here = (part) => part.replace(/127\.0\.0\.1:\d+/g, (address) => addresses.get(address));
  const shell = open(folder, addresses.get('127.0.0.1:8080'));
  const execute = async (commands, line) => {
    const file = join(blocks, String(line));
    await writeFile(file, here(commands));
    const { printed, told, failed } = await shell.run(file);
    const answer = `line ${line}: ${commands}\nprinted: ${printed}\n${told}`;
    if (failed) throw new Error(`failed at ${answer}`);
    return { printed, answer };
  };
  try {
    for (const { name, body, commands, prints, line } of read(text)) {
      if (name) {
        await writeFile(join(folder, name), here(body));
        continue;
      }
      const { printed, answer } = await execute(commands, line);
      if (/"errors?":/.test(printed) && !/"errors?":/.test(prints ?? '')) throw new Error(`an error at ${answer}`);
      if (prints !== undefined && !agrees(here(prints), printed)) throw new Error(`${answer}\nbut the document shows: ${prints}`);
    }
    await check({ here, execute: (commands) => execute(commands, 'after the document') });
  } finally {
    await shell.end();
    await rm(folder, { recursive: true, force: true });
    await rm(blocks, { recursive: true, force: true });
  }
}

// Of several Pythons that of Debian has the packages that scripts/install-test-tools.sh installs.
/** A shell that keeps its variables and programs from block to block, and ends at the first command that fails. */
function open(folder, address) {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(SIMGRAPH_|DATABASE_URL$)/.test(name)));
  const shell = spawn('bash', ['--norc', '-eo', 'pipefail'], { cwd: folder, detached: true, env: { ...env, PATH: `${root}:/usr/bin:${env.PATH}`, SIMGRAPH_ADDR: address } });
  let printed = '';
  let told = '';
  let changed = () => {};
  shell.stdout.on('data', (data) => changed(printed += data));
  shell.stderr.on('data', (data) => { told += data; });
  shell.stdin.on('error', () => {});
  const ended = new Promise((resolve) => shell.on('exit', resolve));
  return {
    async run(file) {
      const mark = randomUUID();
      printed = '';
      told = '';
      const done = new Promise((resolve) => { changed = () => printed.includes(mark) && resolve(false); });
      shell.stdin.write(`. '${file}' </dev/null\necho ${mark}\n`);
      let late;
      const waited = new Promise((resolve) => { late = setTimeout(resolve, longest, true); });
      const failed = await Promise.race([done, ended.then(() => true), waited]);
      clearTimeout(late);
      return { printed: printed.replace(`${mark}\n`, ''), told, failed };
    },
    async end() {
      // The servers that it began are of its process group, and end before their folder goes.
      const left = () => { try { process.kill(-shell.pid, 0); return true; } catch { return false; } };
      if (left()) process.kill(-shell.pid, 'SIGTERM');
      for (let i = 0; i < 300 && left(); i++) await new Promise((resolve) => setTimeout(resolve, 100));
    },
  };
}

function freeAddress() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(`127.0.0.1:${port}`));
    });
  });
}
