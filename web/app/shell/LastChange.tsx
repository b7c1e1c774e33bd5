import { graphql } from '../graph/graphql';
import { hasMade } from '../graph/stale';
import { useAsk } from '../graph/use';
import { Ago } from '../ui/Ago';
import { useMay, useViewer } from './viewer';

const newest = graphql(`
  query LastChange($type: String!, $id: String!) {
    auditLog(first: 10, filter: { subjectType: { eq: $type }, subjectId: { eq: $id } }) { nodes { at action actor reason changes { field after } } }
  }
`);

/** What was edited, as the audit log calls it: its type and its identifier. */
export type Subject = [type: string, id: string];

interface Props {
  subject: Subject;
  /** What is there now of what was changed, by field. */
  theirs: Record<string, unknown>;
}

/** Who made it what it is now, when and why, for those who may read the audit log. Nothing where none of its last entries is about that, such as after an operation. */
export function LastChange({ subject: [type, id], theirs }: Props) {
  const { isRestricted } = useViewer();
  const may = useMay('VIEW_A_USERS_DETAILS') && !isRestricted;
  const asked = useAsk(may ? newest : null, { type, id });
  const entry = asked.data?.auditLog?.nodes.find((entry) => hasMade(entry, theirs, type === 'Subscriber'));
  if (!entry) return null;
  return <p>Changed by {entry.actor || 'the service'}, <Ago at={entry.at} />{entry.reason && `. Reason: ${entry.reason}`}</p>;
}
