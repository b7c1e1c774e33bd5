/** Something that happened to a subscriber. */
export interface Happening {
  key: string;
  at: string;
}

/** A list of what happened, the newest first, as far as it was read. */
export interface Read<T extends Happening> {
  rows: readonly T[];
  /** Reads on; undefined at its end. */
  more: (() => void) | undefined;
}

/**
 * Merges lists, the newest first, as far as all of them were read: what is older than
 * the end of a list that goes on may have something between it that was not read yet.
 */
export function merged<T extends Happening>(lists: readonly Read<T>[]): T[] {
  const bound = Math.max(...lists.map(boundOf));
  return lists.flatMap(({ rows }) => rows.filter(({ at }) => Date.parse(at) >= bound)).sort((a, b) => Date.parse(b.at) - Date.parse(a.at) || a.key.localeCompare(b.key));
}

/** Reads on those lists that hold up the others; null when all were read to their end. */
export function readOn<T extends Happening>(lists: readonly Read<T>[]): (() => void) | null {
  const open = lists.filter(({ more }) => more);
  if (open.length === 0) return null;
  const bound = Math.max(...open.map(boundOf));
  return () => open.filter((list) => boundOf(list) === bound).forEach(({ more }) => more!());
}

/** When the oldest row of a list is, if it goes on. */
function boundOf<T extends Happening>({ rows, more }: Read<T>): number {
  const last = rows.at(-1);
  return more && last ? Date.parse(last.at) : -Infinity;
}

const tagged: Record<string, string> = { 'tag.attach': 'Tag put on', 'tag.detach': 'Tag taken off' };

/** What a change is called: the action of the audit log, with what it was done to where that is not the subscriber. */
export const titleOf = (action: string, subject: string | null): string => (tagged[action] ? `${tagged[action]}: ${subject}` : [action, subject].filter(Boolean).join(' '));
