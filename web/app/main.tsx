import { createRoot } from 'react-dom/client';
import { takeTokenFromAddress } from './session';
import { Shell } from './shell/Shell';
import './shell/theme';
import './styles/page.css';

takeTokenFromAddress();
addEventListener('hashchange', takeTokenFromAddress);
createRoot(document.getElementById('root')!).render(<Shell />);
