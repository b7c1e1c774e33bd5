// Operations are checked against docs/schema.graphql when the page is built. The build
// then puts the id of an operation where it is made here, and its text with its fragments
// into the manifest of trusted documents that the server runs: see web/operations.ts.
import type { initGraphQLTada } from 'gql.tada';
import type { introspection } from '../../generated/schema';

interface Setup {
  introspection: introspection;
  disableMasking: true;
  scalars: { BigInt: string; DateTime: string; ID: string };
}

/** An operation of the page: in what is built, the id of its text. */
export type Document = string & { readonly isDocument: unique symbol };

const join = (text: string, fragments: readonly unknown[] = []): unknown => [text, ...fragments].join('\n');

/** An operation or a fragment, typed by the schema. */
export const graphql = join as unknown as initGraphQLTada<Setup>;

/**
 * An operation that is put together of constants, so that its answer is typed where it is asked for:
 * those of questions alone, see typed.test.ts.
 */
export const operation = join as (text: string) => Document;

export type { FragmentOf, ResultOf, VariablesOf } from 'gql.tada';
