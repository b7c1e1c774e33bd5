// An OpenID provider on this machine, with people that the tests change.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';
import { base } from './browser.js';

const issuer = process.env.SIMGRAPH_PROVIDER;

/** The people by login, with their claims. */
export const people = {};

/** Who has got tokens by a refresh token, the last one last. */
export const refreshed = [];

const form = `<!DOCTYPE html><html lang="en"><title>Provider</title><form method="post">
<label>Login <input name="login"></label><button name="do" value="enter">Enter</button><button name="do" value="cancel">Cancel</button></form>`;

const provider = new Provider(issuer, {
  clients: [{
    client_id: 'simgraph', client_secret: 'the secret of the tests', redirect_uris: [`${base}/signin/e2e/callback`],
    grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'],
  }],
  claims: { openid: ['sub'], email: ['email', 'email_verified'], groups: ['groups'] },
  scopes: ['openid', 'email', 'groups'],
  conformIdTokenClaims: false,
  features: { devInteractions: { enabled: false } },
  interactions: { url: (_, { uid }) => `/interaction/${uid}` },
  cookies: { keys: ['tests'] },
  findAccount: (_, accountId) => people[accountId] && { accountId, claims: () => ({ sub: accountId, email: `${accountId}@demo.example`, email_verified: true, ...people[accountId] }) },
  issueRefreshToken: () => true,
  async loadExistingGrant({ oidc }) {
    const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
    grant.addOIDCScope('openid email groups');
    await grant.save();
    return grant;
  },
});
provider.on('grant.success', ({ oidc }) => oidc.params.grant_type === 'refresh_token' && refreshed.push(oidc.account.accountId));

async function answer(request, response) {
  if (!request.url.startsWith('/interaction/')) return provider.callback()(request, response);
  if (request.method === 'GET') return response.setHeader('content-type', 'text/html').end(form);
  let body = '';
  for await (const part of request) body += part;
  const given = new URLSearchParams(body);
  const result = given.get('do') === 'cancel' ? { error: 'access_denied' } : { login: { accountId: given.get('login') } };
  return provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

let server;

/** Starts the provider. */
export const up = () =>
  new Promise((resolve) => {
    server = createServer((request, response) => void answer(request, response)).listen(new URL(issuer).port, 'localhost', resolve);
  });

/** Stops the provider: it does not answer any more. */
export const down = () =>
  new Promise((resolve) => {
    server.close(resolve);
    server.closeAllConnections();
  });
