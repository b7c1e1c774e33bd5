// Programs of clients, run in folders of their own against the server under test.
import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { graph } from './browser.js';

const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, '../..');
/** The packages of clients. */
export const modules = join(here, 'clients/node_modules');

/** An access key of the caller, as the variables of the environment that programs read. */
export async function accessKey() {
  const { viewer } = await graph('{ viewer { email } }');
  const { createAccessKey } = await graph('mutation($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }', { input: { userEmail: viewer.email, scope: { all: true }, lifetimeDays: 1 } });
  return { SIMGRAPH_KEY: createAccessKey.accessKey.accessKeyId, SIMGRAPH_SECRET: createAccessKey.secret };
}

/** Runs a script in a folder, with an access key; rejects with all that it printed when it fails. */
export function shell(folder, script, key) {
  const env = { ...process.env, ...key, SIMGRAPH: process.env.SIMGRAPH_BASE, SIMGRAPH_GO_CLIENT: join(root, 'clients/go'), PATH: `${root}:${process.env.PATH}`, GOFLAGS: '-mod=mod' };
  return new Promise((resolve, reject) =>
    execFile('bash', ['--norc', '-eo', 'pipefail', '-c', script], { cwd: folder, env, maxBuffer: 1 << 24 }, (error, stdout, stderr) =>
      error ? reject(new Error(`${script}\n${stdout}\n${stderr}`)) : resolve({ stdout, stderr })));
}
