import { graphql, operation } from '../graph/graphql';
import { useLive } from '../graph/live';
import { amend, refresh, useAsk } from '../graph/use';
import { runs } from './words';

const query = graphql(`
  query OperationOnPage($id: String!) {
    operation(by: {operationId: $id}) {
      operationId state isDryRun errorPolicy undoOf startedBy description digest total done changed failed skipped startedAt endedAt undoableUntil
    }
  }
`);
const live = operation(`subscription OperationLive($id: String) {
  operationChanged(operationId: $id) { operationId state isDryRun errorPolicy undoOf startedBy description digest total done changed failed skipped startedAt endedAt undoableUntil }
}`);

/** An operation, which is followed until it has ended. A null id is not read. */
export function useOperation(id: string | null) {
  const variables = { id: id ?? '' };
  const asked = useAsk(id === null ? null : query, variables);
  const of = asked.data?.operation ?? null;
  useLive<{ operationChanged: typeof of }>(of !== null && runs(of.state) ? live : null, {
    variables,
    connected: asked.reload,
    next: ({ operationChanged: now }) => {
      if (!now) return;
      amend<object>([query, variables], (before) => ({ ...before, data: { operation: now } }));
      if (!runs(now.state)) void refresh();
    },
  });
  return { ...asked, of };
}
