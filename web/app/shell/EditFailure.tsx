import type { MadeFrom } from '../graph/stale';
import type { Doing } from '../graph/use';
import { LastChange, type Subject } from './LastChange';
import { Failure } from './parts';

interface Props<A extends unknown[]> {
  save: Doing<A>;
  of: MadeFrom;
  subject: Subject;
}

/** Why an edit was not saved, within its form. What somebody else has changed is taken over, or replaced by saving again. */
export function EditFailure<A extends unknown[]>({ save: { problem, busy, clear }, of, subject }: Props<A>) {
  if (!problem) return null;
  const isStale = problem.code === 'STALE';
  const take = () => {
    of.takeTheirs();
    clear();
  };
  const choice = isStale && (
    <>
      <button type="button" disabled={busy} onClick={take}>Take theirs</button>
      <button type="submit" disabled={busy}>Keep mine</button>
    </>
  );
  return <Failure problem={problem} note={isStale && <LastChange subject={subject} theirs={of.theirs()} />} more={choice} />;
}
