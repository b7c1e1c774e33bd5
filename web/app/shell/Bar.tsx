import { setSystem, useSystem } from '../format/units';
import { useDo } from '../graph/use';
import { signOut } from '../session';
import { Firing } from './Firing';
import { Finder } from './Finder';
import { useFoldout } from './foldout';
import { Moon, Person, Sun } from './icons';
import { Failure } from './parts';
import { Places } from './Places';
import { turnTheme, useTheme } from './theme';
import type { Viewer } from './viewer';

/** The bar at the top of every page, and the side bar. */
export function Bar({ place, viewer }: { place: string | null; viewer: Viewer | null }) {
  const theme = useTheme();
  return (
    <header className="bar">
      <button type="button" className="skip" onClick={() => document.querySelector<HTMLElement>('main')?.focus()}>Skip to the content</button>
      <Places current={place} />
      {viewer?.permissions.includes('VIEW_SUBSCRIBER') && <Finder />}
      <span className="grow" />
      {viewer?.permissions.includes('VIEW_MONITORING_ALERTS') && <Firing />}
      <button type="button" className="icon" onClick={turnTheme} aria-label={theme === 'dark' ? 'Light colours' : 'Dark colours'} title={theme === 'dark' ? 'Light colours' : 'Dark colours'}>
        {theme === 'dark' ? <Sun /> : <Moon />}
      </button>
      {viewer && <Account viewer={viewer} />}
    </header>
  );
}

function Account({ viewer }: { viewer: Viewer }) {
  const { open, setOpen, box, button } = useFoldout();
  const leave = useDo(signOut);
  return (
    <div className="account" ref={box}>
      <button ref={button} type="button" className="account-button" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Person />
        <span>{viewer.company.name}</span>
      </button>
      {open && (
        <div className="popover">
          <p><strong>{viewer.email}</strong></p>
          <p className="hint">
            {viewer.isRestricted ? 'Sees the subscribers of its groups' : 'Sees the whole company'} · {viewer.permissions.length} permissions
          </p>
          <UnitsSwitch />
          <p className="hint">Times are in {viewer.company.timeZone}, the zone of the company.</p>
          <button type="button" disabled={leave.busy} onClick={() => void leave.run()}>Sign out</button>
          {leave.problem && <Failure problem={leave.problem} />}
        </div>
      )}
    </div>
  );
}

/** The units of volumes, kept for this browser. */
function UnitsSwitch() {
  const system = useSystem();
  return (
    <div className="switch wide" role="group" aria-label="Units of volumes">
      <button type="button" aria-pressed={system === 'SI'} title="Counts in 1000, as mails and tariffs do" onClick={() => setSystem('SI')}>kB, MB, GB</button>
      <button type="button" aria-pressed={system === 'IEC'} title="Counts in 1024" onClick={() => setSystem('IEC')}>KiB, MiB, GiB</button>
    </div>
  );
}
