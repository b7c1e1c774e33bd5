// The REST contract: Swagger UI on /openapi.json of this server. What it sends has
// the cookie of the session, where somebody is signed in.
import { createRoot } from 'react-dom/client';
import SwaggerUI from 'swagger-ui-dist/swagger-ui-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import { begin } from './session';
import { DocumentBar } from './shell/DocumentBar';
import './shell/theme';
import './styles/page.css';
import './styles/docs.css';

void begin();
createRoot(document.getElementById('bar')!).render(<DocumentBar place="REST" />);

// Swagger UI turns dark by a class of its own.
const follow = () => document.documentElement.classList.toggle('dark-mode', document.documentElement.dataset.theme === 'dark');
new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ['data-theme'] });
follow();

interface Request {
  headers?: Record<string, string>;
  curlOptions?: string[];
}

SwaggerUI({
  url: '/openapi.json',
  domNode: document.getElementById('contract'),
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  validatorUrl: null,
  // The command to copy runs in a shell, which has no session: it takes a token from there.
  requestInterceptor: (request: Request): Request => ({ ...request, curlOptions: request.headers?.Authorization ? [] : ['-H "Authorization: Bearer $TOKEN"'] }),
});
