// The access token of this browser: in the session storage of each tab, so that
// it ends with the last tab and is never part of an address. Tabs of the same
// origin pass it to each other, and sign out together.
import { useSyncExternalStore } from 'react';

const key = 'simgraph:token';
const noticeKey = 'simgraph:notice';
const ownerKey = 'simgraph:owner';
const draftsPrefix = 'simgraph:graphiql:';

export interface Session {
  token: string | null;
  /** Why the last session ended, in words for people. */
  notice: string | null;
  /** A token out of an address, which may replace the session when the person agrees. */
  offered: string | null;
  /** Whether an answer of other tabs is awaited. */
  awaiting: boolean;
}

const kept = sessionStorage.getItem(key);
let session: Session = { token: kept, notice: sessionStorage.getItem(noticeKey), offered: null, awaiting: false };
sessionStorage.removeItem(noticeKey);
// Whether the server has accepted the token before.
let accepted = kept !== null;
const listeners = new Set<() => void>();
const beforeSignOut = new Set<() => Promise<unknown>>();

function change(next: Partial<Session>) {
  session = { ...session, ...next };
  if (session.token === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, session.token);
  listeners.forEach((listener) => listener());
}

export const token = () => session.token;

/** Begins a session with a token. */
export function signIn(token: string) {
  accepted = false;
  change({ token, notice: null, offered: null, awaiting: false });
}

/** Records that the server accepted the token. */
export function accept(used: string | null) {
  if (used === session.token) accepted = true;
}

/** Runs a function each time before the token is given up, such as to finish what waits. */
export const onSignOut = (run: () => Promise<unknown>) => void beforeSignOut.add(run);

const finish = () => Promise.allSettled([...beforeSignOut].map((run) => run()));

/** Revokes the token, and removes what this browser keeps of the session: token, drafts, history, answers. */
export async function signOut() {
  await finish();
  const used = session.token;
  if (used !== null) {
    await revoke(used).catch(() => undefined); // it ends by itself
    tabs.postMessage({ ended: used } satisfies Message);
  }
  leave('You have signed out.');
}

const revoke = (used: string) =>
  fetch('/oauth/revoke', { method: 'POST', headers: { Authorization: `Bearer ${used}` }, body: new URLSearchParams({ token: used }), keepalive: true, signal: AbortSignal.timeout(3_000) });

/** Removes what is kept of the session. */
function leave(notice: string) {
  removeDrafts();
  localStorage.removeItem(ownerKey);
  history.replaceState(null, '', location.pathname + location.search);
  beginAnew(notice);
}

/**
 * Loads the page anew without a token: a new document has none of the answers in
 * memory. With a notice the sign-in page does not take over the session of another tab.
 */
function beginAnew(notice: string) {
  // Nothing is rendered in between: the editor cannot be closed while it works.
  session = { ...session, token: null };
  sessionStorage.removeItem(key);
  sessionStorage.setItem(noticeKey, notice);
  location.reload();
}

/** Ends the session that used the token, which the server refused; a newer one goes on. */
export function refuse(used: string | null) {
  if (used === null || used !== session.token) return;
  // The drafts stay for the same user, see own.
  if (accepted) beginAnew('The session has ended. Sign in again to go on.');
  else change({ token: null, notice: notAccepted });
}

export const notAccepted = 'The server does not accept this access token: it is unknown, revoked or has expired.';

/** Removes the drafts and the history of the editor where they are another user's. */
export function own(user: string) {
  if (localStorage.getItem(ownerKey) !== user) removeDrafts();
  localStorage.setItem(ownerKey, user);
}

function removeDrafts() {
  Object.keys(localStorage).filter((name) => name.startsWith(draftsPrefix)).forEach((name) => localStorage.removeItem(name));
}

/** What tabs send to each other. */
interface Message {
  /** A new tab requests the session. */
  requests?: true;
  token?: string;
  /** A session that was signed out. */
  ended?: string;
}

const tabs = new BroadcastChannel('simgraph:session');

tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.requests && session.token !== null && accepted) tabs.postMessage({ token: session.token } satisfies Message);
  else if (data.token && session.awaiting) {
    signIn(data.token);
    accepted = true;
  } else if (data.ended && data.ended === session.token) leave('You have signed out in another tab.');
});

const longestWait = 200;

/** Takes over the session of another tab, where one is signed in. */
function requestSession() {
  change({ awaiting: true });
  tabs.postMessage({ requests: true } satisfies Message);
  setTimeout(() => session.awaiting && change({ awaiting: false }), longestWait);
}

/** Reads the token out of the address, or takes over the session of another tab. */
export function begin() {
  takeTokenFromAddress();
  addEventListener('hashchange', takeTokenFromAddress);
  if (session.token === null && session.notice === null) requestSession();
  // The browser may show the page as it was before the session ended.
  addEventListener('pageshow', ({ persisted }) => persisted && session.token !== sessionStorage.getItem(key) && location.reload());
}

/** Takes `#token=…` out of the address and signs in with it. It does not replace another session unasked. */
function takeTokenFromAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  if (given === '' || given === session.token) return;
  if (session.token === null) signIn(given);
  else change({ offered: given });
}

/** Drops the token of the address. */
export const declineOffer = () => change({ offered: null });

/** Replaces the session by another, which the server has accepted. */
export async function replaceSession(next: string) {
  await finish();
  signIn(next);
  location.reload();
}

/** Calls the listener whenever the session changes, until the function returned is called. */
export function watch(listener: () => void): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

export const useSession = (): Session => useSyncExternalStore(watch, () => session);
