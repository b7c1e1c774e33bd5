import { count } from '../format/units';

export interface Counts {
  accepted: string;
  duplicates: string;
  waiting: string;
  rejected: string;
  skipped: string;
}

/** What can become of records, in the order in which it is shown. */
export const results: [keyof Counts, string][] = [['accepted', 'Accepted'], ['duplicates', 'Duplicates'], ['waiting', 'Waiting'], ['rejected', 'Rejected'], ['skipped', 'Left out']];

export const authentications = {
  BASIC: 'HTTP Basic: the secret is the password', BEARER: 'Bearer: the secret is the token', SIGNATURE: 'Signature: HMAC-SHA256 of the body in a header',
} as const;
export type Authentication = keyof typeof authentications;

/** The header of a signature where none is chosen. */
export const usualHeader = 'X-Signature';

/** Whether a source takes records. */
export function State({ of: { pausedAt, receivedAt } }: { of: { pausedAt: string | null; receivedAt: string | null } }) {
  if (pausedAt !== null) return <span className="badge lower">paused</span>;
  return receivedAt === null ? <span className="badge">nothing yet</span> : <span className="badge good">active</span>;
}

const states = { PAUSED: ['paused', 'lower'], SYNCING: ['reading', ''], FAILING: ['failing', 'upper'], HELD: ['waits for you', 'lower'], NEW: ['new', ''], READY: ['in step', 'good'] } as const;
export type StateOfUpstream = keyof typeof states;

/** What a worker does with the account of another server. */
export const UpstreamState = ({ of: { state } }: { of: { state: StateOfUpstream } }) => <span className={`badge ${states[state][1]}`}>{states[state][0]}</span>;

/** Whose nicknames and tags count. */
export const sides = {
  OURS: 'stay as they are here', THEIRS: 'are those of the other server', WRITTEN_THROUGH: 'are the same on both: what is edited here is sent there',
} as const;
export type Side = keyof typeof sides;

/** The parts of an account. */
export const resources = {
  GROUPS: 'Groups', SUBSCRIBERS: 'Subscribers', TAGS: 'Tags', ALERTS: 'Alerts', ALERT_LOG: 'Entries of the alert log', USAGE_DAYS: 'Days of usage compared', USAGE_RECORDS: 'Usage records booked',
} as const;

/** Why a record cannot be used. Some reasons begin with the field. */
export const Reason = ({ field, text }: { field: string | null; text: string }) => <>{field && !text.startsWith(field) && <><code>{field}</code>: </>}{text}</>;

/** How often something came, such as "once". */
export const timesInWords = (times: string): string => (times === '1' ? 'once' : `${count(times)} times`);

/** What became of the records of a source. */
export const CountTiles = ({ of }: { of: Counts }) => (
  <ul className="tiles five" aria-label="What became of its records">
    {results.map(([key, name]) => (
      <li key={key} className="tile"><div><span className="tile-name">{name}</span><strong>{count(of[key])}</strong></div></li>
    ))}
  </ul>
);

/** The counts above zero in words, such as "2 accepted, 1 rejected". */
export const countsInWords = (of: Counts): string =>
  results.filter(([key]) => of[key] !== '0').map(([key, name]) => `${count(of[key])} ${name.toLowerCase()}`).join(', ') || 'no records';
