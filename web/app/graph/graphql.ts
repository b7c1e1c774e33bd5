// Operations are checked against docs/schema.graphql when the page is built, by
// gql.tada. In the browser they are the texts as they are written here: nothing
// parses them before the server does.
import type { initGraphQLTada } from 'gql.tada';
import type { introspection } from '../../generated/schema';

interface Setup {
  introspection: introspection;
  disableMasking: true;
  scalars: { BigInt: string; DateTime: string; ID: string };
}

const join = (text: string, fragments: readonly unknown[] = []): unknown => [text, ...fragments].join('\n');

/** An operation or a fragment, typed by the schema. */
export const graphql = join as unknown as initGraphQLTada<Setup>;

export type { FragmentOf, ResultOf, VariablesOf } from 'gql.tada';
