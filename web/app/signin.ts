// The ways to sign in: an access key, a token, the demo company.
import { notAccepted, signIn } from './session';

interface TokenAnswer {
  access_token?: string;
  error?: string;
  error_description?: string;
}

/** Throws when the server does not accept the token. */
export async function checkToken(given: string): Promise<void> {
  const response = await fetch('/graphql', {
    method: 'POST',
    headers: { Authorization: `Bearer ${given}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ query: '{ __typename }' }),
  });
  if (response.status === 401) throw new Error(notAccepted);
  if (!response.ok) throw new Error(`The server answered ${response.status}. Try again.`);
}

/** Signs in with a token that the server accepts. */
export async function signInByToken(given: string): Promise<void> {
  await checkToken(given);
  signIn(given);
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

/** Gets a token of the demo company from a server in demo mode. */
export async function signInToDemo(): Promise<void> {
  const response = await fetch('/demo-token', { method: 'POST' });
  const answer = (await response.json().catch(() => ({}))) as TokenAnswer;
  if (!response.ok || !answer.access_token) throw new Error(`The server gave no demo token (${response.status}).`);
  signIn(answer.access_token);
}

/** Reports whether the server offers its demo company. */
export async function offersDemo(): Promise<boolean> {
  const response = await fetch('/page.json');
  const answer = (await response.json().catch(() => ({}))) as { demo?: boolean };
  return answer.demo === true;
}
