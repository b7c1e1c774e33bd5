import type { MadeFrom } from '../graph/stale';
import type { Doing } from '../graph/use';
import { Failure } from './parts';

/** Why an edit was not saved, within its form. What somebody else has changed is taken over, or replaced by saving again. */
export function EditFailure<A extends unknown[]>({ save: { problem, busy, clear }, of }: { save: Doing<A>; of: MadeFrom }) {
  if (!problem) return null;
  const take = () => {
    of.takeTheirs();
    clear();
  };
  const choice = problem.code === 'STALE' && (
    <>
      <button type="button" disabled={busy} onClick={take}>Take theirs</button>
      <button type="submit" disabled={busy}>Keep mine</button>
    </>
  );
  return <Failure problem={problem} more={choice} />;
}
