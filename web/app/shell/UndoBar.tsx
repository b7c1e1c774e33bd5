import { Failure } from './parts';
import { dismiss, undo, useUndo } from './undo';

/** What has just been changed, with the way back. */
export function UndoBar() {
  const { pending, problem } = useUndo();
  return (
    <div className="undo" role="status">
      {pending && (
        <p>
          {pending.text} <button type="button" onClick={() => void undo()}>Undo</button>
        </p>
      )}
      {problem && <Failure problem={problem} more={<button type="button" onClick={dismiss}>Close</button>} />}
    </div>
  );
}
