import { createRoot } from 'react-dom/client';
import { readTexts } from './graph/release';
import { begin } from './session';
import { Shell } from './shell/Shell';
import './shell/theme';
import './styles/page.css';

void begin();
// After an upgrade they are needed, and not there any more.
setTimeout(() => {
  for (const needed of [readTexts(), import('./shell/SignInAgain')]) needed.catch(() => undefined);
}, 10_000);
createRoot(document.getElementById('root')!).render(<Shell />);
