interface Stateful {
  isActive: boolean;
  isBarred: boolean;
  networkState: { isOnline: boolean; isTransferring: boolean } | null;
}

/** The states of a subscriber that matter, as badges. */
export function States({ of: { isActive, isBarred, networkState } }: { of: Stateful }) {
  return (
    <span className="states">
      {isBarred && <span className="badge upper">barred</span>}
      {!isActive && <span className="badge">inactive</span>}
      {networkState?.isTransferring ? <span className="badge good">transferring</span> : networkState?.isOnline ? <span className="badge good">online</span> : isActive && networkState && <span className="badge">offline</span>}
    </span>
  );
}
