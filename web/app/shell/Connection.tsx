import { useEffect, useState } from 'react';
import { look, onRecovery, useReachable } from '../graph/reach';
import { isReplaced } from '../graph/release';

/** Informs that the server cannot be reached, or that it has another release of the page. */
export function Connection() {
  const reachable = useReachable();
  const [replaced, setReplaced] = useState(false);
  useEffect(() => onRecovery(() => void isReplaced().then(setReplaced, () => undefined)), []);
  if (!reachable) {
    return (
      <div className="connection" role="status">
        <span><strong>No connection to the server.</strong> What is shown may be old. What you typed is kept.</span>
        <button type="button" onClick={() => void look()}>Try again</button>
      </div>
    );
  }
  if (!replaced) return null;
  return (
    <div className="connection" role="status">
      <span><strong>A new release runs on the server.</strong> Finish what you are typing first: it is lost when the page loads.</span>
      <button type="button" onClick={() => location.reload()}>Load the new release</button>
    </div>
  );
}
