// Calls every operation of openapi.json by openapi-fetch, by the types that
// openapi-typescript writes beside this file, and prints the operation and the
// status of each.
import createClient from 'openapi-fetch';
import type { operations, paths } from './simgraph.js';

const { SIMGRAPH, SIMGRAPH_KEY, SIMGRAPH_SECRET } = process.env;
const api = createClient<paths>({ baseUrl: SIMGRAPH });

/** Prints an answer, and returns its body. An answer that is none of success ends the program. */
async function report<T>(operation: keyof operations, answer: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<NonNullable<T>> {
  const { data, error, response } = await answer;
  console.log(operation, response.status);
  if (!response.ok) throw new Error(`${operation}: ${JSON.stringify(error)}`);
  return data as NonNullable<T>;
}

const token = await report('exchangeKey', api.POST('/oauth/token', {
  body: { grant_type: 'client_credentials', client_id: SIMGRAPH_KEY, client_secret: SIMGRAPH_SECRET },
  headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
}));
api.use({
  onRequest({ request }) {
    request.headers.set('Authorization', `Bearer ${token.access_token}`);
  },
});

const { content: [{ physicalId, subscriberId }] } = await report('listSubscribers', api.GET('/subscribers', {
  params: { query: { limit: 1, offset: 0, filter: 'kind eq cellular and groupId ne null', orderBy: 'connectionDate DESC' } },
}));
const path = { physicalId };

const { content: one } = await report('findSubscriber', api.GET('/subscribers/{physicalId}', { params: { path } }));
await report('editSubscriber', api.PATCH('/subscribers/{physicalId}', { params: { path }, body: { nickname: one.nickname } }));

const tagName = 'openapi fetch/1';
await report('attachTag', api.POST('/subscribers/{physicalId}', { params: { path }, body: { tagName } }));
await report('listTags', api.GET('/tags', { params: { query: { limit: 100 } } }));
await report('listTagsOfSubscriber', api.GET('/subscribers/{physicalId}/tags', { params: { path } }));
const tagged = await report('listSubscribersOfTag', api.GET('/{tagName}/subscribers', { params: { path: { tagName } } }));
if (tagged.content.length !== 1) throw new Error(`${tagged.content.length} subscribers carry the tag`);
await report('detachTag', api.DELETE('/{tagName}/subscribers/{physicalId}', { params: { path: { tagName, physicalId } } }));

const { content: [group] } = await report('listGroups', api.GET('/subscriber-groups'));
await report('editGroup', api.PATCH('/subscriber-groups/{subscriberGroupId}', { params: { path: { subscriberGroupId: group.id } }, body: { name: group.name } }));

const now = new Date().toISOString();
await report('recordUsage', api.POST('/usage/records', {
  body: { source: 'openapi-fetch', recordId: now, physicalId, startedAt: now, endedAt: now, mobileOriginated: 1, mobileTerminated: 2, protocol: 'TCP' },
  bodySerializer: (record) => `${JSON.stringify(record)}\n`,
  headers: { 'Content-Type': 'application/x-ndjson' },
  parseAs: 'text',
}));

const template = await report('getOperationTemplate', api.GET('/operations/template.csv', { parseAs: 'text' }));
if (!String(template).startsWith('physicalId,')) throw new Error(`the template is ${template}`);
const operation = await report('startSubscriberChange', api.POST('/operations', {
  params: { query: { map: ['ICCID=physicalId', 'Note='], validateOnly: true } },
  body: `ICCID;Note;addTags\n${physicalId};;openapi\n8.94E+18;;openapi\n`,
  bodySerializer: (file) => file,
  headers: { 'Content-Type': 'text/csv' },
}));
if (operation.state !== 'CHECKED' || operation.changed !== 1 || operation.unreadable[0]?.line !== 3) throw new Error(JSON.stringify(operation));

const { contents: [alert] } = await report('createAlert', api.POST('/alerts', {
  body: { ruleType: 'sim', target: subscriberId, lowerThreshold: 2 ** 52, upperThreshold: 2 ** 53 - 1 },
}));
await report('listAlerts', api.GET('/alerts', { params: { query: { filter: `id eq ${alert.id}` } } }));
const { contents: [edited] } = await report('editAlert', api.PATCH('/alerts/{id}', { params: { path: { id: alert.id } }, body: { lowerThreshold: 0 } }));
if (edited.lowerThreshold !== 0) throw new Error(`the threshold is ${edited.lowerThreshold}`);
await report('listAlertLog', api.GET('/alerts/logs', { params: { query: { limit: 1 } } }));
await report('deleteAlert', api.DELETE('/alerts/{id}', { params: { path: { id: alert.id } } }));

const { contents: [recipient] } = await report('createRecipient', api.POST('/alerts/recipients', { body: { email: 'openapi-fetch@demo.example' } }));
await report('listRecipients', api.GET('/alerts/recipients'));
await report('editRecipient', api.PATCH('/alerts/recipients/{id}', { params: { path: { id: recipient.id } }, body: { email: 'openapi-fetch-2@demo.example' } }));
await report('deleteRecipient', api.DELETE('/alerts/recipients/{id}', { params: { path: { id: recipient.id } } }));

/** The sum of a map of the analytics. */
function sum(map: Values): bigint {
  return Object.values(map).reduce((total, digits) => total + BigInt(digits), 0n);
}

// Is holds both ways: Record<string, never> and unknown are no Values.
type Values = { [key: string]: string };
type Is<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
type Content<O extends keyof operations> = operations[O] extends { responses: { 200: { content: { 'application/json': { content: infer C } } } } } ? C : never;
const maps: [
  Is<Content<'dataUsage'>[0]['mobileOriginated'], Values>,
  Is<Content<'dataUsage'>[0]['mobileTerminated'], Values>,
  Is<Content<'dataUsageBySubscriber'>['subscriberDataUsage'], { [subscriber: string]: Values }>,
  Is<Content<'sessionCount'>, Values>,
  Is<Content<'sessionCountOfSubscriber'>[0]['content'], Values>,
  Is<Content<'dataUsageByNetworkProtocol'>, { [protocol: string]: Values }>,
  Is<Content<'dataUsageByIpAddress'>[0]['dataUsageByIp'], { [address: string]: { lastSeen: string; bytes: string } }>,
] = [true, true, true, true, true, true, true];
if (!maps.every(Boolean)) throw new Error('a map of the analytics has no type of its values');

const query = { startDate: new Date(Date.now() - 172_800_000).toISOString(), endDate: now.slice(0, 10) };
const { content: [usage] } = await report('dataUsage', api.GET('/analytics/data-usage', { params: { query } }));
await report('dataUsageBySubscriber', api.GET('/analytics/data-usage-by-subscriber', { params: { query } }));
await report('dataUsageByIpAddress', api.GET('/analytics/data-usage-ip-address', { params: { query } }));
await report('dataUsageByNetworkProtocol', api.GET('/analytics/data-usage-network-protocol', { params: { query } }));
await report('sessionCount', api.GET('/analytics/session-count', { params: { query } }));
await report('dataUsageOfSubscriber', api.GET('/analytics/data-usage/{physicalId}', { params: { path, query } }));
await report('dataUsageByIpAddressOfSubscriber', api.GET('/analytics/data-usage-ip-address/{physicalId}', { params: { path, query } }));
await report('sessionCountOfSubscriber', api.GET('/analytics/session-count/{physicalId}', { params: { path, query } }));
if (sum(usage.mobileOriginated) === 0n || sum(usage.mobileTerminated) === 0n) throw new Error(`no usage is summed: ${JSON.stringify(usage)}`);

const whole = { format: 'ndjson' } as const;
const exported = {
  exportSubscribers: await report('exportSubscribers', api.GET('/export/subscribers', { params: { query: whole }, parseAs: 'text' })),
  exportUsage: await report('exportUsage', api.GET('/export/usage', { params: { query: { ...whole, interval: 'MONTH', by: 'SUBSCRIBER,PROTOCOL' } }, parseAs: 'text' })),
  exportSessions: await report('exportSessions', api.GET('/export/sessions', { params: { query: whole }, parseAs: 'text' })),
  exportAlertLog: await report('exportAlertLog', api.GET('/export/alert-log', { params: { query: { ...whole, filter: '{"kind": {"eq": "VOLUME"}}' } }, parseAs: 'text' })),
  exportAuditLog: await report('exportAuditLog', api.GET('/export/audit', { params: { query: whole }, parseAs: 'text' })),
};
for (const [name, file] of Object.entries(exported)) if (!String(file).includes('\n{"end":{"rows":')) throw new Error(`${name} is cut`);
