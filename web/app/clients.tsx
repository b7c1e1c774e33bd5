// The bar above docs/clients.md, which the build writes into clients.html.
import { createRoot } from 'react-dom/client';
import { Bar } from './shell/Bar';
import './shell/theme';
import './styles/page.css';
import './styles/docs.css';

createRoot(document.getElementById('bar')!).render(<Bar place="Clients" viewer={null} />);
