import { Dialog } from './Dialog';
import { stay, useLeaving } from './unsaved';

/** Asks whether what was typed may be lost. */
export function LeaveQuestion() {
  const leave = useLeaving();
  if (!leave) return null;
  return (
    <Dialog title="Discard what you typed?" passing cancel={stay}>
      <p>It has not been saved.</p>
      <p className="actions">
        <button type="button" autoFocus onClick={stay}>Keep editing</button>
        <button
          type="button"
          className="danger"
          onClick={() => {
            stay();
            leave();
          }}
        >
          Discard
        </button>
      </p>
    </Dialog>
  );
}
