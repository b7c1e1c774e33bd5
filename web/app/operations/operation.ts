import { graphql, type ResultOf } from '../graph/graphql';
import { useLive } from '../graph/live';
import { amend, refresh, useAsk } from '../graph/use';
import { useViewer } from '../shell/viewer';
import { runs } from './words';

const query = graphql(`
  query OperationOnPage($id: String!, $alerts: Boolean!, $silences: Boolean!) {
    operation(by: {operationId: $id}) {
      operationId state isDryRun errorPolicy undoOf startedBy description reason digest total done created changed removed failed skipped startedAt endedAt undoableUntil startableUntil dryRunOf { operationId } startedAs { operationId }
      effects @include(if: $alerts) { alerts recipients webhookMessages commands }
      silence @include(if: $silences) { reason }
    }
  }
`);
const live = graphql(`subscription OperationLive($id: String, $alerts: Boolean!, $silences: Boolean!) {
  operationChanged(operationId: $id) {
    operationId state isDryRun errorPolicy undoOf startedBy description reason digest total done created changed removed failed skipped startedAt endedAt undoableUntil startableUntil dryRunOf { operationId } startedAs { operationId }
    effects @include(if: $alerts) { alerts recipients webhookMessages commands }
    silence @include(if: $silences) { reason }
  }
}`);

/** An operation as the page reads it. */
export type OperationRead = NonNullable<ResultOf<typeof query>['operation']>;

/** An operation, which is followed until it has ended. A null id is not read. */
export function useOperation(id: string | null) {
  const { permissions, isRestricted } = useViewer();
  const alerts = permissions.includes('VIEW_MONITORING_ALERTS');
  const variables = { id: id ?? '', alerts, silences: alerts && !isRestricted };
  const asked = useAsk(id === null ? null : query, variables);
  const of = asked.data?.operation ?? null;
  useLive(of !== null && runs(of.state) ? live : null, {
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
