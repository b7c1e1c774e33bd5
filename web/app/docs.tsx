// The REST contract: Swagger UI on /openapi.json of this server, with the token
// of this browser tab.
import { createRoot } from 'react-dom/client';
import SwaggerUI from 'swagger-ui-dist/swagger-ui-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import { begin, token, watch } from './session';
import { Bar } from './shell/Bar';
import { placesAt } from './shell/places';
import './shell/theme';
import './styles/page.css';
import './styles/docs.css';

begin();
createRoot(document.getElementById('bar')!).render(<Bar places={placesAt('REST')} viewer={null} />);

// Swagger UI turns dark by a class of its own.
const follow = () => document.documentElement.classList.toggle('dark-mode', document.documentElement.dataset.theme === 'dark');
new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ['data-theme'] });
follow();

const ui = SwaggerUI({
  url: '/openapi.json',
  domNode: document.getElementById('contract'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
  onComplete: () => {
    signIn();
    watch(signIn); // the session of another tab may arrive later
  },
});

/** Shows the contract as signed in with the token of this browser tab. */
function signIn() {
  const known = token();
  if (known === null) return;
  const schema = ui.specSelectors.specJson().getIn(['components', 'securitySchemes', 'oauth'])?.toJS();
  if (schema) ui.authActions.authorizeOauth2({ auth: { name: 'oauth', schema }, token: { access_token: known, token_type: 'Bearer' } });
}
