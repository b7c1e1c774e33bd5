// The server under test, and how to talk to it.
const { SIMGRAPH_URL, SIMGRAPH_TOKEN } = process.env;

if (!SIMGRAPH_URL || !SIMGRAPH_TOKEN) {
  console.error('Set SIMGRAPH_URL (such as http://127.0.0.1:8080/graphql) and SIMGRAPH_TOKEN.');
  process.exit(2);
}

export const url = SIMGRAPH_URL;
export const socketURL = url.replace(/^http/, 'ws');
export const authorization = `Bearer ${SIMGRAPH_TOKEN}`;

// authorized is fetch with the token.
export function authorized(input, init = {}) {
  return fetch(input, { ...init, headers: { authorization, ...init.headers } });
}

export function post(body, headers = {}) {
  return authorized(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

export function get(params, headers = {}) {
  return authorized(`${url}?${new URLSearchParams(params)}`, { headers });
}

function isLeaf(type) {
  return type.ofType ? isLeaf(type.ofType) : type.kind === 'SCALAR' || type.kind === 'ENUM';
}

// schema returns the parts of the schema that the checks read.
export async function schema() {
  const type = '{ kind ofType { kind ofType { kind } } }';
  const response = await post({
    query: `{ __schema {
      mutationType { name }
      subscriptionType { fields { name args { defaultValue type { kind } } type ${type} } }
    } }`,
  });
  const { data } = await response.json();
  return data.__schema;
}

// endless is a subscription that needs no argument and does not end by
// itself, or undefined where the schema has none.
export async function endless() {
  const { subscriptionType } = await schema();
  const fields = subscriptionType?.fields ?? [];
  const free = fields.filter(({ args }) => args.every((a) => a.defaultValue !== null || a.type.kind !== 'NON_NULL'));
  const field = free.find(({ name }) => name === 'forever') ?? free[0];
  return field && `subscription { ${field.name}${isLeaf(field.type) ? '' : ' { __typename }'} }`;
}

// counts reports whether the server has the subscription of the test schema
// that yields 1, 2, … to, and completes.
export async function counts() {
  const { subscriptionType } = await schema();
  return subscriptionType?.fields.some(({ name }) => name === 'count') ?? false;
}
