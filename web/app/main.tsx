import { createRoot } from 'react-dom/client';
import { begin } from './session';
import { Shell } from './shell/Shell';
import './shell/theme';
import './styles/page.css';

void begin();
createRoot(document.getElementById('root')!).render(<Shell />);
