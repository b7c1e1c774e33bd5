import { useEffect, useRef, useState } from 'react';
import { ago } from '../format/time';
import { signOut } from '../session';
import { Mark, Moon, Person, Sun } from './icons';
import { turnTheme, useTheme } from './theme';
import type { Viewer } from './viewer';

export interface Place {
  name: string;
  href: string;
  current: boolean;
}

/** The bar at the top of every page. */
export function Bar({ places, viewer }: { places: Place[]; viewer: Viewer | null }) {
  const theme = useTheme();
  return (
    <header className="bar">
      <a className="home" href="/#/">
        <Mark />
        <span>simgraph</span>
      </a>
      <nav aria-label="Places">
        {places.map((place) => (
          <a key={place.name} href={place.href} aria-current={place.current ? 'page' : undefined}>
            {place.name}
          </a>
        ))}
      </nav>
      <span className="grow" />
      <button type="button" className="icon" onClick={turnTheme} aria-label={theme === 'dark' ? 'Light colours' : 'Dark colours'} title={theme === 'dark' ? 'Light colours' : 'Dark colours'}>
        {theme === 'dark' ? <Sun /> : <Moon />}
      </button>
      {viewer && <Account viewer={viewer} />}
    </header>
  );
}

function Account({ viewer }: { viewer: Viewer }) {
  const [open, setOpen] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const away = (event: Event) => {
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !box.current?.contains(event.target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', away);
    addEventListener('keydown', away);
    return () => {
      removeEventListener('pointerdown', away);
      removeEventListener('keydown', away);
    };
  }, [open]);
  return (
    <div className="account" ref={box}>
      <button type="button" className="account-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Person />
        <span>{viewer.company.name}</span>
      </button>
      {open && (
        <div className="popover">
          <p><strong>{viewer.email}</strong></p>
          <p className="hint">
            {viewer.isRestricted ? 'Sees the subscribers of its groups' : 'Sees the whole company'} · {viewer.permissions.length} permissions
          </p>
          <p className="hint">The session ends {ago(viewer.tokenExpiresAt)}.</p>
          <button type="button" onClick={() => signOut()}>Sign out</button>
        </div>
      )}
    </div>
  );
}
