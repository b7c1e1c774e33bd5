// The operations on the server with the demo company that SIMGRAPH names, by the key of the environment.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as simgraph from 'simgraph-client';

const { SIMGRAPH, SIMGRAPH_KEY, SIMGRAPH_SECRET } = process.env;

test('the operations on the server', { skip: !SIMGRAPH && 'SIMGRAPH names no server' }, async () => {
  const client = new simgraph.Client({ url: SIMGRAPH, key: SIMGRAPH_KEY, secret: SIMGRAPH_SECRET });
  for (const [name, document] of Object.entries(simgraph).filter(([name]) => /^List.*Document$/.test(name))) {
    const items = await collect(client.list(document));
    if (name !== 'ListSilencesDocument') assert.notEqual(items.length, 0, name);
  }
  const [{ physicalId }] = (await client.run(simgraph.ListSubscribersDocument, { first: 1 })).data.subscribers.nodes;
  const tag = { tagName: 'of the TypeScript client', physicalIds: [physicalId] };
  assert.equal((await client.run(simgraph.AttachTagDocument, { input: tag })).data.attachTag.attached, 1);
  const found = await collect(client.list(simgraph.ListTagsDocument, { filter: { name: { eq: tag.tagName } } }));
  await client.run(simgraph.DetachTagDocument, { input: tag });
  assert.deepEqual(found.map(({ name }) => name), [tag.tagName]);
  assert.equal((await client.run(simgraph.FindSubscriberDocument, { physicalId: 'none' })).data.subscriber, null);
  const { company } = (await client.run(simgraph.ReadCompanyUsageDocument, { interval: 'DAY' })).data;
  assert.equal(typeof company.usage.totals.total, 'string');
  for await (const { data } of client.watch(simgraph.WatchUsageDocument)) {
    assert.equal(typeof data.usageRecorded.bytes, 'string');
    break;
  }
});

async function collect(items) {
  const all = [];
  for await (const item of items) all.push(item);
  return all;
}
