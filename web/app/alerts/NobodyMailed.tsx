import { graphql } from '../graph/graphql';
import { useAsk } from '../graph/use';
import { to } from '../shell/route';
import { useMay, useViewer } from '../shell/viewer';

const query = graphql('query NobodyMailed { recipients(first: 0) { totalCount } }');

/** Says where an alert is set that nobody gets mail yet. */
export function NobodyMailed() {
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_MONITORING_ALERTS', 'VIEW_A_USERS_DETAILS') && !isRestricted;
  const { data } = useAsk(may ? query : null);
  if (data?.recipients?.totalCount !== 0) return null;
  return <p className="notice">Nobody gets mail yet. <a href={to('recipients')}>Add a recipient</a></p>;
}
