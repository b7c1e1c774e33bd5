// The session of this browser: a cookie that the page cannot read and all tabs
// share. Tabs send each other when it begins and ends.
import { useSyncExternalStore } from 'react';
import { run } from './graph/client';
import { type Document, graphql, type ResultOf } from './graph/graphql';
import { dropUnsaved } from './shell/unsaved';

const noticeKey = 'simgraph:notice';
const ownerKey = 'simgraph:owner';
const draftsPrefix = 'simgraph:graphiql:';

/** How people can sign in, beside tokens and links of the operator. */
export interface Ways {
  /** Whether access keys sign in. */
  keys: boolean;
  /** Whether links are mailed to people who ask for one. */
  links: boolean;
  providers: { title: string; path: string }[];
}

export interface Session {
  /** Names the session without giving it away; null where nobody is signed in. */
  id: string | null;
  /** The id of the first of the sessions that one person has here, one after the other. */
  first: string | null;
  /** The session is over. The page stays, for its person to sign in again. */
  ended: boolean;
  /** Why nobody is signed in, in words for people. */
  notice: string | null;
  /** A token out of an address, which may replace the session when the person agrees. */
  offered: string | null;
  /** The code of a link out of an address, which signs in when the person agrees. */
  link: string | null;
  /** Whether it is not known yet who is signed in. */
  awaiting: boolean;
  ways: Ways;
}

/** What signs in: a key with its secret, a token, or the code of a link. */
export type Credentials = { accessKeyId: string; secret: string } | { token: string } | { link: string };

let session: Session = { id: null, first: null, ended: false, notice: sessionStorage.getItem(noticeKey), offered: null, link: null, awaiting: true, ways: { keys: true, links: false, providers: [] } };
sessionStorage.removeItem(noticeKey);
const listeners = new Set<() => void>();
const beforeSignOut = new Set<() => Promise<unknown>>();

function change(next: Partial<Session>) {
  session = { ...session, ...next };
  listeners.forEach((listener) => listener());
}

export const sessionId = () => session.id;
export const firstSessionId = () => session.first;

/** Shows what the session may see, from the beginning. */
const start = (id: string) => change({ id, first: id, ended: false, notice: null });

interface SessionAnswer {
  session?: { id: string } | null;
  ways?: Ways;
  error?: { message: string };
}

const endpoint = '/session';

const post = (path: string, body: Credentials | { email: string }) =>
  fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

/** Signs in. Throws what is wrong with the credentials, where the status has no text of its own. */
export async function signIn(credentials: Credentials, refusal: string): Promise<void> {
  const response = await post(endpoint, credentials);
  const answer = (await response.json().catch(() => ({}))) as SessionAnswer;
  if (response.status === 401) throw new Error(refusal);
  if (!response.ok || !answer.session) throw new Error(answer.error?.message ?? `The server answered ${response.status}. Try again.`);
  tabs.postMessage({ session: answer.session.id } satisfies Message);
  if (session.ended) return resume(answer.session.id);
  start(answer.session.id);
  change({ offered: null, link: null });
}

/** Goes on with a new session where it is the same person's; another person begins anew. */
async function resume(id: string) {
  if ((await readOwner()) === localStorage.getItem(ownerKey)) change({ id, ended: false });
  else beginAnew(null);
}

const owner = graphql('query Owner { viewer { email company { externalId } } }');

/** Names who is signed in, as own does. */
async function readOwner(): Promise<string | null> {
  const { data } = await run<ResultOf<typeof owner>>(owner as unknown as Document);
  return data?.viewer ? ownerOf(data.viewer) : null;
}

/** Reads from the server who is signed in, and how people can. */
async function readSession(): Promise<string | null> {
  const response = await fetch(endpoint);
  const answer = (await response.json().catch(() => ({}))) as SessionAnswer;
  if (answer.ways) change({ ways: answer.ways });
  return answer.session?.id ?? null;
}

/** Runs a function each time before the session is given up, such as to finish what waits. */
export const onSignOut = (run: () => Promise<unknown>) => void beforeSignOut.add(run);

const finish = () => Promise.allSettled([...beforeSignOut].map((run) => run()));

/** Ends the session, and removes what this browser keeps of it: drafts, history, answers. */
export async function signOut() {
  await finish();
  const ended = await end().catch(() => false);
  if (!ended) {
    // The cookie is still there: a page that looked signed out would deceive.
    removeDrafts();
    throw new Error('The server cannot be reached, so you are still signed in. Try again.');
  }
  tabs.postMessage({ session: null } satisfies Message);
  leave('You have signed out.');
}

async function end(): Promise<boolean> {
  const { ok } = await fetch(endpoint, { method: 'DELETE', keepalive: true, signal: AbortSignal.timeout(5_000) });
  return ok;
}

/** Removes what is kept of the session. */
function leave(notice: string) {
  removeDrafts();
  localStorage.removeItem(ownerKey);
  history.replaceState(null, '', location.pathname + location.search);
  beginAnew(notice);
}

/** Loads the page anew: a new document has none of the answers in memory. */
function beginAnew(notice: string | null) {
  // Nothing is rendered in between: the editor cannot be closed while it works.
  session = { ...session, id: null };
  if (notice !== null) sessionStorage.setItem(noticeKey, notice);
  dropUnsaved();
  location.reload();
}

/** Notes that the session of a request is over, which the server refused; a newer one goes on. */
export function refuse(used: string | null) {
  if (used !== null && used === session.id) change({ ended: true });
}

export const notAccepted = 'The server does not accept this access token: it is unknown, revoked or has expired.';

/** A user of a company; the same address may be a user of another company. */
const ownerOf = ({ email, company }: { email: string; company: { externalId: string } }) => `${company.externalId} ${email}`;

/** Removes the drafts and the history of the editor where they are another user's. */
export function own(viewer: { email: string; company: { externalId: string } }) {
  const user = ownerOf(viewer);
  if (localStorage.getItem(ownerKey) !== user) removeDrafts();
  localStorage.setItem(ownerKey, user);
}

function removeDrafts() {
  Object.keys(localStorage).filter((name) => name.startsWith(draftsPrefix)).forEach((name) => localStorage.removeItem(name));
}

/** What tabs send to each other: the session that has begun, or null when it was signed out. */
interface Message {
  session: string | null;
}

const tabs = new BroadcastChannel('simgraph:session');

tabs.addEventListener('message', ({ data }: MessageEvent<Message>) => {
  if (data.session === null) {
    if (session.id !== null) leave('You have signed out in another tab.');
  } else if (data.session !== session.id) follow(data.session);
});

/** Shows the session that another tab has begun. What another user was shown goes with the document. */
function follow(id: string) {
  if (session.ended) void resume(id);
  else if (session.id === null) {
    start(id);
    change({ awaiting: false });
  } else beginAnew(null);
}

/** Looks whether the session is another one than this tab shows, such as after it was out of sight. */
export async function lookAgain() {
  if (document.visibilityState !== 'visible' || session.awaiting) return;
  const id = await readSession().catch(() => session.id);
  if (id === session.id || session.awaiting) return;
  if (id === null) refuse(session.id);
  else follow(id);
}

/** Reads who is signed in, and takes the token out of the address. */
export async function begin() {
  addEventListener('hashchange', () => {
    takeLinkFromAddress();
    void takeTokenFromAddress();
  });
  document.addEventListener('visibilitychange', () => void lookAgain());
  // The browser may show the page as it was before the session ended.
  addEventListener('pageshow', ({ persisted }) => persisted && void lookAgain());
  takeLinkFromAddress();
  const given = ofAddress('token');
  const id = await readSession().catch(() => null);
  if (id !== null) start(id);
  if (given !== null) await take(given);
  change({ awaiting: false });
}

/** Removes `#token=…` or `#link=…` from the address and returns what it gives. */
function ofAddress(name: 'token' | 'link'): string | null {
  const given = new URLSearchParams(location.hash.slice(1)).get(name);
  if (given !== null) history.replaceState(null, '', location.pathname + location.search);
  return given || null;
}

async function takeTokenFromAddress() {
  const given = ofAddress('token');
  if (given !== null) await take(given);
}

function takeLinkFromAddress() {
  const link = ofAddress('link');
  if (link !== null) change({ link });
}

/** Drops the link of the address. */
export const declineLink = () => change({ link: null });

export interface LinkTarget {
  email: string;
  company: string;
}

/** Reads whom a link signs in, which does not use it up. Throws why it signs nobody in. */
export async function readLink(link: string): Promise<LinkTarget> {
  const response = await post(`${endpoint}/link`, { link });
  const answer = (await response.json().catch(() => ({}))) as Partial<LinkTarget> & SessionAnswer;
  if (!response.ok || !answer.email) throw new Error(answer.error?.message ?? `The server answered ${response.status}. Try again.`);
  return answer as LinkTarget;
}

/** Asks for a link to be mailed, and returns for how many minutes it signs in. The answer is the same for addresses that no user has. */
export async function requestLink(email: string): Promise<number> {
  const response = await post(`${endpoint}/link/mail`, { email });
  const answer = (await response.json().catch(() => ({}))) as { validMinutes?: number } & SessionAnswer;
  if (!response.ok || !answer.validMinutes) throw new Error(answer.error?.message ?? `The server answered ${response.status}. Try again.`);
  return answer.validMinutes;
}

/** Uses a link up. It replaces the session that there is. */
export async function signInByLink(link: string): Promise<void> {
  const replaces = session.id !== null;
  if (replaces) await finish();
  await signIn({ link }, 'The server does not accept this link.');
  if (replaces) beginAnew(null);
}

/** Signs in with the token of a link. It does not replace another session unasked. */
async function take(given: string) {
  if (session.id !== null) return change({ offered: given });
  await signIn({ token: given }, notAccepted).catch((error: Error) => change({ notice: error.message }));
}

/** Drops the token of the address. */
export const declineOffer = () => change({ offered: null });

/** Replaces the session by that of another token. */
export async function replaceSession(token: string) {
  await finish();
  await signIn({ token }, notAccepted);
  beginAnew(null);
}

/** Calls the listener whenever the session changes, until the function returned is called. */
export const watch = (listener: () => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

export const useSession = (): Session => useSyncExternalStore(watch, () => session);
