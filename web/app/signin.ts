// The ways to sign in: an access key, a token, the demo company.
import { readOffer } from './graph/offer';
import { notAccepted, signIn } from './session';

/** Signs in with a token that the server accepts. */
export const signInByToken = (token: string) => signIn({ token }, notAccepted);

/** Signs in with an access key. */
export const signInByKey = (accessKeyId: string, secret: string) =>
  signIn({ accessKeyId, secret }, 'This access key is unknown, revoked or expired, or the secret is not its own.');

/** Signs in to the demo company of a server in demo mode. */
export async function signInToDemo(): Promise<void> {
  const response = await fetch('/demo-token', { method: 'POST' });
  const answer = (await response.json().catch(() => ({}))) as { access_token?: string };
  if (!response.ok || !answer.access_token) throw new Error(`The server gave no demo token (${response.status}).`);
  await signInByToken(answer.access_token);
}

/** Reports whether the server offers its demo company. */
export const offersDemo = async (): Promise<boolean> => (await readOffer()).demo === true;
