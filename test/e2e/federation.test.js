// simgraph as a subgraph: Apollo's composition takes the schema that it prints, with one that adds fields to
// its subscribers and groups, and Apollo's gateway answers from both with the token of the caller.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { composeServices } from '@apollo/composition';
import { ApolloGateway, RemoteGraphQLDataSource } from '@apollo/gateway';
import { ApolloServer } from '@apollo/server';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { graphql, parse, print } from 'graphql';
import { graph } from './browser.js';
import { root } from './programs.js';
import { authorization, post, url } from './server.js';

// The second subgraph: where vehicles are, by what simgraph calls them.
const typeDefs = parse(`
  extend schema @link(url: "https://specs.apollo.dev/federation/v2.0", import: ["@key", "@external", "@requires", "@shareable"])
  type Query { vehicles(first: Int!): [Vehicle!]! sites: [Site!]! }
  type Vehicle { plate: String! subscriber: Subscriber }
  type Site { name: String! group: Group pageInfo: PageInfo! }
  type PageInfo @shareable { hasNextPage: Boolean! hasPreviousPage: Boolean! startCursor: String endCursor: String }
  type Subscriber @key(fields: "physicalId") { physicalId: String! nickname: String @external plate: String! label: String! @requires(fields: "nickname") }
  type Group @key(fields: "groupId") { groupId: Int! site: String! }
`);

let vehicles; // physicalIds, with one that simgraph does not have
const plate = (physicalId) => `P ${physicalId.slice(-4)}`;
const resolvers = {
  Query: {
    vehicles: (_, { first }) => Array.from({ length: first }, (_, i) => vehicles[i % vehicles.length]).map((physicalId) => ({ plate: plate(physicalId), subscriber: { physicalId } })),
    sites: () => [{ name: 'Berlin', group: { groupId: 1 }, pageInfo: { hasNextPage: false, hasPreviousPage: false } }, { name: 'nowhere', group: { groupId: 999999 }, pageInfo: { hasNextPage: false, hasPreviousPage: false } }],
  },
  Subscriber: { __resolveReference: (of) => of, plate: ({ physicalId }) => plate(physicalId), label: ({ physicalId, nickname }) => `${nickname} (${plate(physicalId)})` },
  Group: { __resolveReference: (of) => of, site: ({ groupId }) => `site ${groupId}` },
};

const asked = { simgraph: [], vehicles: [] };
let server, apollo;

before(async () => {
  const { subscribers } = await graph('{ subscribers(first: 30) { nodes { physicalId } } }');
  vehicles = [...subscribers.nodes.map(({ physicalId }) => physicalId), 'unknown'];
  const schema = buildSubgraphSchema({ typeDefs, resolvers });
  server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += part;
    const { query, variables } = JSON.parse(body);
    const answer = await graphql({ schema, source: query, variableValues: variables });
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { stdout } = await promisify(execFile)(join(root, 'simgraph'), ['schema', '--federation'], { maxBuffer: 1 << 24 });
  const composed = composeServices([
    { name: 'simgraph', url, typeDefs: parse(stdout) },
    { name: 'vehicles', url: `http://127.0.0.1:${server.address().port}/`, typeDefs },
  ]);
  assert.deepEqual(composed.errors ?? [], []);
  const gateway = new ApolloGateway({
    supergraphSdl: composed.supergraphSdl,
    buildService: ({ name, url }) => new RemoteGraphQLDataSource({
      url,
      willSendRequest({ request, context }) {
        if (context.authorization) request.http.headers.set('authorization', context.authorization);
        asked[name].push(request);
      },
    }),
  });
  apollo = new ApolloServer({ gateway, nodeEnv: 'test' });
  await apollo.start();
});

after(async () => {
  await apollo?.stop();
  server?.close();
});

/** What the gateway answers; who calls is passed on. */
async function query(text, caller = { authorization }) {
  for (const requests of Object.values(asked)) requests.length = 0;
  const { body } = await apollo.executeOperation({ query: text }, { contextValue: caller });
  return JSON.parse(JSON.stringify(body.singleResult)); // as it is sent: objects without prototypes are others to assert
}

test('the schema that is served is the one that is printed', async () => {
  const [{ stdout }, served] = await Promise.all([
    promisify(execFile)(join(root, 'simgraph'), ['schema', '--federation'], { maxBuffer: 1 << 24 }), graph('{ _service { sdl } }'),
  ]);
  assert.equal(served._service.sdl, stdout);
  assert.ok(print(parse(stdout)).includes('type Company implements Node @key(fields: "id")'));
});

test('a list of simgraph has fields of the other subgraph', async () => {
  const { data, errors } = await query('{ subscribers(first: 25) { nodes { nickname physicalId plate label group { name site } } pageInfo { hasNextPage } } }');
  assert.equal(errors, undefined);
  assert.equal(data.subscribers.nodes.length, 25);
  for (const { nickname, physicalId, plate: shown, label } of data.subscribers.nodes) {
    assert.equal(shown, plate(physicalId));
    assert.equal(label, `${nickname} (${shown})`);
  }
  assert.ok(data.subscribers.nodes.some(({ group }) => group?.site?.startsWith('site ')));
  assert.equal(asked.simgraph.length, 1);
});

test('a list of the other subgraph has fields of simgraph, by one request for all of them', async () => {
  const { data, errors } = await query('{ vehicles(first: 1000) { plate subscriber { physicalId nickname group { name } tags { name } label } } }');
  assert.equal(errors, undefined);
  assert.equal(data.vehicles.length, 1000);
  const { subscribers } = await graph('{ subscribers(first: 30) { nodes { physicalId nickname } } }');
  const nicknames = new Map(subscribers.nodes.map(({ physicalId, nickname }) => [physicalId, nickname]));
  for (const { plate: shown, subscriber } of data.vehicles) {
    if (shown === plate('unknown')) assert.equal(subscriber, null); // its label is never null
    else assert.equal(subscriber.nickname, nicknames.get(subscriber.physicalId));
  }
  assert.equal(asked.simgraph.length, 1);
  assert.ok(asked.simgraph[0].variables.representations.length >= vehicles.length);
});

test('a group that is not there is null, and the others are answered', async () => {
  const { data, errors } = await query('{ sites { name group { site name numberOfSubscribers } pageInfo { hasNextPage } } }');
  assert.equal(errors, undefined);
  assert.ok(data.sites[0].group.name && data.sites[0].group.numberOfSubscribers > 0);
  assert.equal(data.sites[1].group, null); // its name is never null
});

test('alerts of all kinds are composed, and a mutation goes through', async () => {
  const { data, errors } = await query('{ alerts(first: 5) { nodes { id kind ... on VolumeAlert { upperThreshold group { site } } } } company { name } }');
  assert.equal(errors, undefined);
  assert.ok(data.alerts.nodes.length > 0 && data.company.name);
  const { subscribers } = await graph('{ subscribers(first: 1) { nodes { physicalId nickname } } }');
  const [{ physicalId, nickname }] = subscribers.nodes;
  const edited = await query(`mutation { editSubscriber(input: { physicalId: "${physicalId}", nickname: ${JSON.stringify(nickname)} }) { subscriber { plate } } }`);
  assert.deepEqual(edited, { data: { editSubscriber: { subscriber: { plate: plate(physicalId) } } } });
});

test('the gateway shows what the token of the caller shows', async () => {
  const { accessKey, secret } = (await graph('mutation($input: CreateAccessKeyInput!) { createAccessKey(input: $input) { secret accessKey { accessKeyId } } }',
    { input: { userEmail: (await graph('{ viewer { email } }')).viewer.email, scope: { permissions: ['VIEW_STATISTICS_OVERVIEW'] }, lifetimeDays: 1 } })).createAccessKey;
  const token = await fetch(new URL('/oauth/token', url), {
    method: 'POST', headers: { authorization: `Basic ${btoa(`${accessKey.accessKeyId}:${secret}`)}` }, body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  const { access_token } = await token.json();
  const caller = { authorization: `Bearer ${access_token}` };
  const text = '{ vehicles(first: 2) { plate subscriber { nickname } } }';
  const { data } = await query(text, caller);
  assert.deepEqual(data.vehicles.map(({ subscriber }) => subscriber.nickname), [null, null]);
  const refused = await query(text, {});
  assert.equal(refused.data.vehicles[0].subscriber.nickname, null);
  assert.ok(refused.errors.length > 0);
});

test('hostile representations are refused, or cost nothing but themselves', async () => {
  const text = 'query($of: [_Any!]!) { _entities(representations: $of) { ... on Subscriber { physicalId } } }';
  const good = { __typename: 'Subscriber', physicalId: vehicles[0] };
  const many = await post({ query: text, variables: { of: Array.from({ length: 10_000 }, () => good) } });
  assert.match((await many.json()).errors[0].message, /a list may have at most 1000 elements/);
  assert.equal((await post({ query: text, variables: { of: Array.from({ length: 100_000 }, () => good) } })).status, 413);
  const mixed = await post({ query: text, variables: { of: [good, { __typename: 'Nothing' }, { __typename: 'Subscriber', physicalId: { a: [1] } }, good] } });
  const { data, errors } = await mixed.json();
  assert.deepEqual(data._entities, [{ physicalId: vehicles[0] }, null, null, { physicalId: vehicles[0] }]);
  assert.deepEqual(errors.map(({ path }) => path), [['_entities', 1], ['_entities', 2]]);
});
