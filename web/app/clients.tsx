// The bar above docs/clients.md, which the build writes into clients.html.
import { createRoot } from 'react-dom/client';
import { Bar } from './shell/Bar';
import { placesAt } from './shell/places';
import './shell/theme';
import './styles/page.css';
import './styles/docs.css';

createRoot(document.getElementById('bar')!).render(<Bar places={placesAt('Clients')} viewer={null} />);
