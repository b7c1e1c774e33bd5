// The access token of this browser tab: in session storage, so that it ends
// with the tab and is never part of an address.
import { useSyncExternalStore } from 'react';

const key = 'simgraph:token';

export interface Session {
  token: string | null;
  /** Why the last session ended, in words for people. */
  notice: string | null;
}

let session: Session = { token: sessionStorage.getItem(key), notice: null };
const listeners = new Set<() => void>();

function change(next: Session) {
  session = next;
  if (next.token === null) sessionStorage.removeItem(key);
  else sessionStorage.setItem(key, next.token);
  listeners.forEach((listener) => listener());
}

export const token = () => session.token;
export const signIn = (token: string) => change({ token, notice: null });
export const signOut = (notice: string | null = null) => change({ token: null, notice });

/** Ends the session that used the token; a newer one goes on. */
export function refuse(used: string | null) {
  if (used !== null && used === session.token) signOut('The session has ended. Sign in again to go on.');
}

export function useSession(): Session {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => session,
  );
}

/** Takes `#token=…` out of the address, once, and signs in with it. */
export function takeTokenFromAddress() {
  const given = new URLSearchParams(location.hash.slice(1)).get('token');
  if (given === null) return;
  history.replaceState(null, '', location.pathname + location.search);
  if (given !== '') signIn(given);
}

interface TokenAnswer {
  access_token?: string;
  error?: string;
  error_description?: string;
}

/** Exchanges an access key for a token (OAuth 2.0 client credentials). */
export async function signInByKey(id: string, secret: string): Promise<void> {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id: id, client_secret: secret });
  // Without credentials a browser does not answer a refusal with a dialog of its own.
  const response = await fetch('/oauth/token', { method: 'POST', body, credentials: 'omit' });
  const answer = (await response.json().catch(() => ({}))) as TokenAnswer;
  if (!response.ok || !answer.access_token) throw new Error(refusal(response.status, answer));
  signIn(answer.access_token);
}

function refusal(status: number, answer: TokenAnswer): string {
  if (answer.error === 'invalid_client') return 'This access key is unknown, revoked or expired, or the secret is not its own.';
  return answer.error_description ?? `The server answered ${status}. Try again.`;
}

/** Asks a server in demo mode for a token of its demo company. */
export async function signInToDemo(): Promise<void> {
  const response = await fetch('/demo-token', { method: 'POST' });
  const answer = (await response.json().catch(() => ({}))) as TokenAnswer;
  if (!response.ok || !answer.access_token) throw new Error(`The server gave no demo token (${response.status}).`);
  signIn(answer.access_token);
}

/** Whether the server offers its demo company. */
export async function offersDemo(): Promise<boolean> {
  const response = await fetch('/page.json');
  const answer = (await response.json().catch(() => ({}))) as { demo?: boolean };
  return answer.demo === true;
}
