// Measures what opening each place of the page costs the server and PostgreSQL, and prints a
// table. SERVER is the process of a server that answers nobody else; DATABASE is the process of
// its PostgreSQL, of which all children count that live on: leave out parallel workers
// (max_parallel_workers_per_gather = 0). PLACES are more places, such as #/groups/1.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { enter, launch, openTab, textOf } from './browser.js';

const places = [
  ...['', 'subscribers', 'alerts', 'alerts/log', 'alerts/conditions', 'alerts/silences', 'alerts/recipients', 'alerts/webhooks', 'groups', 'tags'],
  ...['users', 'users/keys', 'operations', 'usage', 'dashboards', 'audit', 'sources'],
  ...(process.env.PLACES ?? '').split(' ').filter(Boolean),
];
const rounds = 3;

/** The CPU that the threads of a process have used, in ms. */
const used = (pid) =>
  readdirSync(`/proc/${pid}/task`).reduce((sum, thread) => sum + Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]) / 1e6, 0);

const parentOf = (pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/.*\) /, '').split(' ')[1];

function total() {
  let sum = used(process.env.SERVER) + used(process.env.DATABASE);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (parentOf(pid) === process.env.DATABASE) sum += used(pid);
    } catch {} // it has ended
  }
  return sum;
}

/** What a piece of work used, less what the server uses in that time without it. */
async function cost(idle, work) {
  const began = performance.now();
  const before = total();
  await work();
  return total() - before - idle * (performance.now() - began);
}

const browser = await launch();
const { tab, close } = await openTab(browser);
await enter(tab, '#/');
await sleep(5000);
await tab.goto('about:blank');
const idle = (await cost(0, () => sleep(20_000))) / 20_000;
let reads = [];
let heard = 0;
tab.on('request', (request) => textOf(request) && reads.push(textOf(request).match(/\w+ (\w+)/)[1]));
for (const event of ['request', 'requestfinished', 'requestfailed']) tab.on(event, () => (heard = performance.now()));

/** Waits until the page has sent and got nothing for two seconds; events of live data stay open. */
async function quiet() {
  heard = performance.now();
  while (performance.now() - heard < 2000) await sleep(100);
}

console.log('| place | CPU, ms | reads |\n|---|--:|---|');
for (const place of places) {
  const costs = [];
  for (let round = 0; round < rounds; round++) {
    await enter(tab, '#/');
    await quiet();
    await tab.goto('about:blank');
    await quiet();
    reads = [];
    costs.push(
      await cost(idle, async () => {
        await tab.goto(`${process.env.SIMGRAPH_BASE}/#/${place}`);
        await quiet();
      }),
    );
  }
  console.log(`| \`#/${place}\` | ${costs.sort((a, b) => a - b)[1].toFixed(0)} | ${[...new Set(reads)].join(', ')} |`);
}
await close();
await browser.close();
